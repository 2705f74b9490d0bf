"""``assignor import-episode``: a recorded experiment as an episode that can be played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assignor_lab.cli.options import JsonWritten, ScenariosOut, check_json, keep_inputs, print_written
from assignor_lab.cli.past_options import Topology
from assignor_lab.cli.text import note

__all__ = ["register"]

TimelineFile = Annotated[Path, typer.Argument(metavar="TIMELINE", help="Timeline of the experiment, plain or gzip.")]
Folder = Annotated[
    Path,
    typer.Option(
        "--recording",
        metavar="DIR",
        help="Folder of its recording: configs.jsonl, and where they are brokers' answers and logs.",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("import-episode")(_import_episode)


def _import_episode(
    timeline: TimelineFile,
    recording: Folder,
    topology: Topology = None,
    out: ScenariosOut = "-",
    json: JsonWritten = False,
) -> None:
    """Turn a recorded experiment with a Streams group into an episode: its actions, and the weights of its tasks.

    The real consequences are under "recorded", which no simulation reads. The command needs a clone of the repository.
    """
    from assignor_lab.scenarios import write_lines
    from calibration.episodes import import_episode as imported  # part of a clone only

    check_json(out, as_json=json)
    keep_inputs(out, [str(timeline)])
    document = imported(timeline, recording, topology)
    for sentence in document["assumptions"]:
        note(f"assumed: {sentence}")
    written = write_lines(out, [document])
    print_written(out, written, as_json=json, events=len(document["events"]), assumptions=document["assumptions"])
