"""``assignor import-log``: what a group's leader logged, as scenarios."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from assignor_lab.capture.histories.import_warnings import ImportWarnings
from assignor_lab.capture.histories.logged_decisions import logged_decisions
from assignor_lab.capture.histories.settings import optimization_in
from assignor_lab.capture.histories.workload_file import weighed
from assignor_lab.capture.logs.rebalance import Problem
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
from assignor_lab.cli.past_options import Topology, Zone, rack_filler, with_racks, zone_of
from assignor_lab.cli.text import note
from assignor_lab.scenarios import write_lines
from assignor_lab.scenarios.told_topology import noting_conflicts

__all__ = ["register"]

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="Logs of the group's instances, plain or gzip, any layout; - is the standard input. "
        "Every instance can be the leader, so give the logs of all.",
    ),
]
WorkloadFile = Annotated[
    Path | None,
    typer.Option(
        "--workload",
        metavar="FILE",
        help="What the tasks weigh, as JSON: a scenario's workload (docs, 'Scenario files').",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command("import-log")
    def import_log_command(
        files: Files,
        config: ConfigFile = None,
        c: Overrides = None,
        topology: Topology = None,
        timezone: Zone = None,
        racks: RackFiles = None,
        workload: WorkloadFile = None,
        out: ScenariosOut = "-",
        json: JsonWritten = False,
    ) -> None:
        """Turn each decision in the logs of a Kafka Streams group into a scenario.

        A scenario holds what the leader knew, what it decided, where that was read, and as assumptions what a log does
        not say. What is garbled or incomplete is left out and named on the standard error.
        """
        check_json(out, as_json=json)
        keep_inputs(out, [*files, *map(str, racks or ()), *([] if workload is None else [str(workload)])])
        problems: list[Problem] = []
        documents = logged_decisions(
            files,
            config_layers=sources(config, c).above,
            topology=topology,
            zone=zone_of(timezone),
            optimization=optimization_in(config),
            on_problem=problems.append,
            standard_input=sys.stdin.buffer,
        )
        warnings = ImportWarnings()
        made = warnings.passed(with_racks(noting_conflicts(documents, note), rack_filler(racks)))
        written = write_lines(out, made if workload is None else weighed(made, workload))
        for problem in problems:
            note(f"warning: {problem}")
        for sentence in warnings.sentences():
            note(f"warning: {sentence}")
        lost = sum(problem.loses_decision for problem in problems)
        note(
            f"{written} {'decision' if written == 1 else 'decisions'} imported" + (f", {lost} left out" if lost else "")
        )
        print_written(out, written, as_json=json, left_out=lost, problems=list(map(str, problems)))
