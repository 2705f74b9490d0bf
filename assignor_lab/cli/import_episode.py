"""``assignor import-episode``: a recorded experiment as an episode that can be played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assignor_lab.capture.episodes import import_episode as imported
from assignor_lab.cli.options import JsonWritten, check_json, keep_inputs, print_written
from assignor_lab.cli.past_options import Topology
from assignor_lab.cli.text import note
from assignor_lab.scenarios import write_lines

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
Out = Annotated[
    str,
    typer.Option(
        "--out", metavar="FILE", help="Where the episode goes, compressed if it ends in .gz; - is the standard output."
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command("import-episode")
    def import_episode(
        timeline: TimelineFile,
        recording: Folder,
        topology: Topology = None,
        out: Out = "-",
        json: JsonWritten = False,
    ) -> None:
        """Turn a recorded experiment with a Streams group into an episode: what was done, and what its tasks weigh.

        What followed goes under "recorded", which no simulation reads.
        """
        check_json(out, as_json=json)
        keep_inputs(out, [str(timeline)])
        document = imported(timeline, recording, topology)
        for sentence in document["assumptions"]:
            note(f"assumed: {sentence}")
        written = write_lines(out, [document])
        print_written(out, written, as_json=json, events=len(document["events"]), assumptions=document["assumptions"])
