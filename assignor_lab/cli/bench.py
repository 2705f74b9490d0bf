"""``assignor bench``: durations of an assignor for each scenario of a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from assignor_lab.cli.options import (
    ConfigFile,
    JsonWritten,
    LinesOut,
    Overrides,
    RackFiles,
    ScenarioFile,
    check_json,
    print_written,
    sources,
)
from assignor_lab.cli.past_options import rack_filler
from assignor_lab.cli.text import note

__all__ = ["register"]

Assignor = Annotated[
    str,
    typer.Option(
        "--assignor",
        metavar="NAME",
        help="Name of an assignor (see 'assignor plugins'), distribution:name, module:attribute, java:CLASS@JARS or a "
        "Kafka class.",
    ),
]
Warmup = Annotated[
    int, typer.Option("--warmup", metavar="N", min=0, help="Calls before the measured ones; one, if it takes over 1 s.")
]
Repeat = Annotated[int, typer.Option("--repeat", metavar="M", min=1, help="Measured calls.")]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("bench")(_bench)


def _bench(
    file: ScenarioFile,
    assignor: Assignor,
    warmup: Warmup = 10,
    repeat: Repeat = 5,
    config: ConfigFile = None,
    c: Overrides = None,
    racks: RackFiles = None,
    out: LinesOut = "-",
    json: JsonWritten = False,
) -> None:
    """Time the assign call alone, one line for each scenario of a file.

    A failing assignor gives a line with an error and without times; the command still ends with 0.
    """
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.groups.runner.timing import timed_scenario
    from assignor_lab.scenarios import read_scenarios, write_lines

    check_json(out, as_json=json)
    given = sources(config, c)
    plugins = found_plugins(given.effective())

    filler = rack_filler(racks)

    def lines() -> Iterator[dict[str, Any]]:
        for read in read_scenarios(file):
            scenario = read if filler is None else filler.filled_scenario(read)
            line = timed_scenario(
                assignor,
                plugins.registry,
                given,
                scenario,
                warmup=warmup,
                repeat=repeat,
                may_run_code=True,
                isolation=plugins.isolation,
            )
            if "error" in line:
                note(f"{scenario.place}: {assignor} failed: {line['error']['message']}")
            if "stopped_at" in line:
                note(f"{scenario.place}: {assignor} was stopped in {line['stopped_at'][-1]}")
            yield line

    print_written(out, write_lines(out, lines()), as_json=json, assignor=assignor)
