"""``assignor derive-constants``: how long things take on a machine, from recorded experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assignor_lab.capture.episodes.constants import derive_constants
from assignor_lab.capture.episodes.timeline import read_timeline
from assignor_lab.cli.options import Json
from assignor_lab.cli.text import console, print_json, table

__all__ = ["register"]

Timelines = Annotated[
    list[Path], typer.Argument(metavar="TIMELINES", help="Timelines of recorded experiments, plain or gzip.")
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command("derive-constants")
    def derive(timelines: Timelines, json: Json = False) -> None:
        """Derive the constants of the simulation from recorded experiments with classic Streams groups.

        With --json they are what an episode takes under "timings".
        """
        derived = derive_constants([read_timeline(path) for path in timelines])
        if json:
            print_json({"timings": {each.name: each.value for each in derived}})
            return
        rows = [
            (
                each.name,
                each.value,
                each.count,
                "-" if each.quartiles is None else f"{each.quartiles[0]:g} to {each.quartiles[1]:g}",
            )
            for each in derived
        ]
        console().print(table(("timing", "value", "measurements", "half of them"), rows))
