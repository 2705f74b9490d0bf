"""``assignor import-recording``: what brokers answered and a group's leader logged, as complete scenarios."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC
from pathlib import Path
from typing import Annotated, Any

import typer

from assignment_api.plugins import Registry
from assignor_lab.capture.histories.import_warnings import ImportWarnings
from assignor_lab.capture.histories.settings import optimization_in
from assignor_lab.capture.logs.import_log import read_decisions
from assignor_lab.capture.logs.rebalance import Decision
from assignor_lab.capture.logs.scenario_documents import DocumentMaker
from assignor_lab.capture.recorded import RecordedState, problems, read_recording, recorded_states
from assignor_lab.capture.topology import reuses_sources
from assignor_lab.cli.options import (
    ConfigFile,
    JsonWritten,
    Overrides,
    RackFiles,
    ScenariosOut,
    check_json,
    print_written,
    sources,
)
from assignor_lab.cli.past_options import Topology, Zone, rack_filler, with_racks, zone_of
from assignor_lab.cli.text import note
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scenarios import write_lines
from assignor_lab.scenarios.told_topology import noting_conflicts

__all__ = ["register"]

_CHECK_FAILED = 1

Recordings = Annotated[
    list[Path],
    typer.Argument(
        metavar="RECORDINGS",
        help="Answers of brokers to DescribeGroups and Metadata, as JSON lines, plain or gzip (docs, 'Wire formats').",
    ),
]
Logs = Annotated[
    list[str],
    typer.Option("--log", metavar="FILE", help="Log of an instance of the group; give those of all instances."),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Decide every state again with the leader's assignor, and compare what each member would be sent with "
        "what it was sent; differences end the command with 1.",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command("import-recording")
    def import_recording(
        recordings: Recordings,
        log: Logs,
        config: ConfigFile = None,
        c: Overrides = None,
        topology: Topology = None,
        timezone: Zone = None,
        racks: RackFiles = None,
        check: Check = False,
        out: ScenariosOut = "-",
        json: JsonWritten = False,
    ) -> None:
        """Turn recorded answers of brokers and the leaders' logs into scenarios with everything that Kafka saw.

        A scenario for each stable state of the group that was recorded: racks, partitions and consumers from the
        answers, lags and the decision from the log.
        """
        check_json(out, as_json=json)
        given = sources(config, c)
        zone = zone_of(timezone)
        maker = DocumentMaker(given.above, None, zone or UTC, zone_given=zone is not None)
        left_out: list[str] = []

        def leave_out(unusable: object) -> None:
            left_out.append(str(unusable))
            note(f"left out: {unusable}")

        states = recorded_states(
            read_recording(recordings),
            _decisions(log),
            maker,
            topology=topology,
            optimized=reuses_sources(optimization_in(config)),
            on_unusable=leave_out,
        )
        failed: list[str] = []
        registry = discovered(given.effective()).registry if check else None
        documents = _documents(states, registry, failed.append)
        warnings = ImportWarnings()
        written = write_lines(out, warnings.passed(with_racks(noting_conflicts(documents, note), rack_filler(racks))))
        for sentence in warnings.sentences():
            note(f"warning: {sentence}")
        note(f"{written} {'state' if written == 1 else 'states'} imported")
        if check:
            note(f"{written - len(failed)} of {written} come out as Kafka sent them")
        print_written(out, written, as_json=json, left_out=left_out, checked=check, failed=failed)
        if failed:
            raise typer.Exit(_CHECK_FAILED)


def _decisions(logs: Sequence[str]) -> list[Decision]:
    """All decisions, in the order of time as far as it is known."""
    decisions = list(read_decisions(logs, lambda problem: note(f"warning: {problem}"), sys.stdin.buffer))
    if all(decision.record.time is not None for decision in decisions):
        decisions.sort(key=lambda decision: decision.record.time.epoch_ms() if decision.record.time else 0)
    return decisions


def _documents(
    states: Iterable[RecordedState], registry: Registry | None, on_failed: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    for state in states:
        if registry is not None:
            for problem in problems(state, registry):
                note(f"{state.document['id']}: {problem}")
                on_failed(str(state.document["id"]))
                break
        yield state.document
