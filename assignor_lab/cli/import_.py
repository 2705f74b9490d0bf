"""``assignor import``: logs and recordings as scenarios."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import typer

from assignor_lab.cli.options import (
    ConfigFile,
    JsonWritten,
    Overrides,
    RackFiles,
    ScenariosOut,
    check_json,
    keep_inputs,
    print_written,
    sources,
)
from assignor_lab.cli.past_options import (
    Dates,
    Day,
    StateWorkload,
    Topology,
    Zone,
    dates_of,
    rack_filler,
    surroundings,
    with_racks,
    zone_of,
)
from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignment_api.plugins import ConfigSources, Registry
    from assignor_lab.capture.histories.group_histories import ReaderEvent
    from assignor_lab.capture.histories.import_inputs import ImportInputs
    from assignor_lab.capture.logs.open_dates import LogDates
    from assignor_lab.capture.logs.rebalance import LogProblem

__all__ = ["register"]

_CHECK_FAILED = 1

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="Logs of all instances, in any layout; recorded responses of brokers beside these logs (docs, 'Wire "
        "formats'); or folders of record. Plain or gzip; - is a log on the standard input.",
    ),
]
#: Option of the former command ``import-recording``: with it, FILES are responses of brokers.
FormerLogs = Annotated[list[str] | None, typer.Option("--log", metavar="FILE", hidden=True)]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Responses of brokers: decide every state again with the leader's assignor, and compare the bytes for "
        "each member with the recorded ones. Exit code 1 if they differ.",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("import")(_import)


def _import(
    files: Inputs,
    log: FormerLogs = None,
    config: ConfigFile = None,
    c: Overrides = None,
    topology: Topology = None,
    timezone: Zone = None,
    dates: Dates = None,
    day: Day = None,
    racks: RackFiles = None,
    workload: StateWorkload = None,
    check: Check = False,
    out: ScenariosOut = "-",
    json: JsonWritten = False,
) -> None:
    """Turn each decision in logs or recordings of a group into a scenario.

    A scenario has the leader's input, its decision, the place in the source, and assumptions for the facts that the
    source lacks. Incomplete decisions are left out and named on standard error.
    """
    from assignor_lab.capture.histories.import_inputs import ImportInputs, import_inputs
    from assignor_lab.capture.histories.import_warnings import ImportWarnings
    from assignor_lab.capture.histories.imported_events import with_events
    from assignor_lab.capture.histories.past import scenarios_of_past
    from assignor_lab.capture.histories.workload_file import weighed
    from assignor_lab.scenarios import write_lines
    from assignor_lab.scenarios.topology_provenance import noting_conflicts

    check_json(out, as_json=json)
    keep_inputs(out, [*files, *map(str, racks or ()), *([] if workload is None else [str(workload)])])
    given = sources(config, c)
    inputs = ImportInputs(log, list(map(Path, files))) if log else import_inputs(files)
    if check and not inputs.responses:
        raise typer.BadParameter(
            "no file has responses of brokers; assignor history --check decides the decisions of logs again",
            param_hint="--check",
        )
    known_dates = dates_of(dates, day)
    running = _Import(given, config, topology, zone_of(timezone), known_dates)
    warnings = ImportWarnings()
    if inputs.recordings:
        if inputs.responses:
            raise typer.BadParameter("import responses of brokers and folders of record one by one", param_hint="FILES")
        around = surroundings(given, topology, timezone, racks, known_dates)
        around = attrs.evolve(around, on_event=lambda group, event: running.events.append((group, event)))
        past = scenarios_of_past([*inputs.recordings, *inputs.logs], around)
        made = warnings.passed(with_events((dict(each.document) for each in past), running.events))
    else:
        documents = running.states(inputs, check=check) if inputs.responses else running.decisions(inputs.logs)
        made = warnings.passed(with_racks(noting_conflicts(documents, note), rack_filler(racks)))
    written = write_lines(out, made if workload is None else weighed(made, workload))
    running.conclude(written, "state" if inputs.responses else "decision", warnings.sentences())
    checked = {"checked": check, "failed": running.failed} if inputs.responses else {}
    print_written(out, written, as_json=json, left_out=running.left_out, problems=running.problems, **checked)
    if check:
        note(f"{written - len(running.failed)} of {written} equal the bytes that Kafka sent")
    if running.failed:
        raise typer.Exit(_CHECK_FAILED)


@attrs.define
class _Import:
    """One import, with its findings."""

    given: ConfigSources
    config: Path | None
    topology: Path | None
    zone: tzinfo | None
    dates: LogDates
    problems: list[str] = attrs.field(init=False, factory=list)
    events: list[ReaderEvent] = attrs.field(init=False, factory=list)
    left_out: int = attrs.field(init=False, default=0)
    failed: list[str] = attrs.field(init=False, factory=list)

    def decisions(self, logs: Sequence[str]) -> Iterator[dict[str, Any]]:
        from assignor_lab.capture.histories.connect_logs import with_connect
        from assignor_lab.capture.histories.imported_events import with_events
        from assignor_lab.capture.histories.logged_decisions import logged_decisions
        from assignor_lab.capture.histories.settings import optimization_in

        documents = logged_decisions(
            logs,
            config_layers=self.given.above,
            topology=self.topology,
            zone=self.zone,
            optimization=optimization_in(self.given.above),
            on_problem=self._read_badly,
            standard_input=sys.stdin.buffer,
            dates=self.dates,
            on_cause=lambda group, event: self.events.append((group, event)),
        )
        return with_connect(
            with_events(documents, self.events),
            logs,
            zone=self.zone,
            dates=self.dates,
            config=self.given.above,
            on_problem=self.problems.append,
        )

    def states(self, inputs: ImportInputs, *, check: bool) -> Iterator[dict[str, Any]]:
        from assignor_lab.capture.histories.settings import optimization_in
        from assignor_lab.capture.logs.import_log import read_decisions
        from assignor_lab.capture.logs.scenario_documents import DocumentMaker
        from assignor_lab.capture.logs.surroundings import LoggedSurroundings
        from assignor_lab.capture.recorded.recording import read_recording
        from assignor_lab.capture.recorded.states import recorded_states
        from assignor_lab.capture.topology.evidence import reuses_sources
        from assignor_lab.runtime.discovery import discovered

        if not inputs.logs:
            raise typer.BadParameter(
                "responses of brokers lack the lags and the decisions: give the logs of all instances, too",
                param_hint="FILES",
            )
        around = LoggedSurroundings()
        decisions = list(read_decisions(inputs.logs, self._read_badly, sys.stdin.buffer, around, self.dates))
        times = [decision.record.time for decision in decisions]
        if None not in times:
            decisions.sort(key=lambda decision: decision.record.time.epoch_ms() if decision.record.time else 0)
        states = recorded_states(
            read_recording(inputs.responses),
            decisions,
            DocumentMaker(self.given.above, None, self.zone or UTC, zone_given=self.zone is not None),
            topology=self.topology,
            optimized=reuses_sources(optimization_in(self.given.above)),
            surroundings=around,
            on_unusable=self._leave_out,
        )
        registry = discovered(self.given.effective()).registry if check else None
        return self._checked(states, registry)

    def conclude(self, written: int, noun: str, warnings: Iterable[str]) -> None:
        from assignor_lab.documents.wording import plural

        for sentence in (*self.problems, *warnings):
            note(f"warning: {sentence}")
        note(f"{plural(written, noun)} imported" + (f", {self.left_out} left out" if self.left_out else ""))

    def _checked(self, states: Iterable[Any], registry: Registry | None) -> Iterator[dict[str, Any]]:
        from assignor_lab.capture.recorded.replay import problems

        for state in states:
            problem = None if registry is None else next(iter(problems(state, registry)), None)
            if problem is not None:
                note(f"{state.document['id']}: {problem}")
                self.failed.append(str(state.document["id"]))
            yield state.document

    def _read_badly(self, problem: LogProblem) -> None:
        self.problems.append(str(problem))
        self.left_out += problem.loses_decision

    def _leave_out(self, unusable: object) -> None:
        self.problems.append(f"left out: {unusable}")
        self.left_out += 1
