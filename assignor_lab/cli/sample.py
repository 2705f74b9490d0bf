"""``assignor sample``: the logs and states of a real group, for the tutorials."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assignment_api import AssignorLabError
from assignor_lab.cli.options import sources
from assignor_lab.cli.text import print_line

__all__ = ["register"]

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="New folder for the files.")]
#: The sample in this package.
SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "tagged"
_LOGS, _CONFIG, _STATES = "logs", "application.properties", "states.jsonl"


class SampleError(AssignorLabError):
    """The folder exists already."""


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("sample")(_sample)


def _sample(folder: Folder = Path("sample")) -> None:
    """Copy the logs of a real Streams group to a folder, with its configuration and its 24 decisions as states."""
    from assignor_lab.capture.histories.past import PastSurroundings, scenarios_of_past
    from assignor_lab.capture.histories.settings import optimization_in
    from assignor_lab.documents.durable import write_durably
    from assignor_lab.scenarios import write_lines

    if folder.exists():
        raise SampleError(f"{folder}: exists already: name a new folder")
    source = SAMPLE
    (folder / _LOGS).mkdir(parents=True)
    files = [*sorted((source / _LOGS).iterdir()), source / _CONFIG]
    for file in files:
        write_durably(folder / file.relative_to(source), file.read_bytes())
    config = folder / _CONFIG
    given = sources(config, None)
    around = PastSurroundings(given.above, optimization=optimization_in(given.above))
    write_lines(str(folder / _STATES), (each.document for each in scenarios_of_past([str(folder / _LOGS)], around)))
    for name in (f"{_LOGS}/*.log.gz", _CONFIG, _STATES):
        print_line(folder / name)
