"""``assignor assign``: one result line for each scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from assignor_lab.cli.found_plugins import found_plugins
from assignor_lab.cli.options import ConfigFile, JsonWritten, Overrides, check_json, keep_inputs, print_written, sources
from assignor_lab.cli.text import note
from assignor_lab.groups.answering import AnswerOptions, answerer
from assignor_lab.scenarios import read_scenarios, write_lines

__all__ = ["register"]

Assignor = Annotated[
    str,
    typer.Option(
        "--assignor",
        metavar="NAME",
        help="Name of an assignor (see 'assignor plugins'), distribution:name, module:attribute or a Kafka class; "
        "also utils.default_standby, utils.identity, utils.validate and threads.",
    ),
]
Scenarios = Annotated[
    str, typer.Option("--scenarios", metavar="FILE", help="File of scenarios, plain or gzip; - is the standard input.")
]
Threads = Annotated[bool, typer.Option("--threads", help="Add which consumer runs which task.")]
Followups = Annotated[bool, typer.Option("--followups", help="Add the deadlines of follow-up rebalances.")]
Out = Annotated[
    str,
    typer.Option(
        "--out", metavar="FILE", help="Where results go, compressed if the name ends in .gz; - is the standard output."
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command()
    def assign(
        assignor: Assignor,
        scenarios: Scenarios,
        config: ConfigFile = None,
        c: Overrides = None,
        threads: Threads = False,
        followups: Followups = False,
        out: Out = "-",
        json: JsonWritten = False,
    ) -> None:
        """Let an assignor place the tasks of every scenario in a file, in order.

        A failing assignor gives a row with an error; the command still ends with 0.
        """
        check_json(out, as_json=json)
        keep_inputs(out, [scenarios])
        given = sources(config, c)
        plugins = found_plugins(given.effective())
        options = AnswerOptions(
            given, threads=threads, followups=followups, on_problem=note, isolation=plugins.isolation
        )
        answer = answerer(assignor, plugins.registry, options, may_run_code=True)
        failed = Counter[bool]()

        def rows() -> Iterator[dict[str, Any]]:
            for row in map(answer, read_scenarios(scenarios)):
                failed[row["error"] is not None] += 1
                yield row

        written = write_lines(out, rows())
        print_written(out, written, as_json=json, assignor=assignor, failed=failed[True])
