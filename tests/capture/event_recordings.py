"""The recordings with events between decisions, as folders and as histories."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.capture.histories.past import PastSurroundings, read_past
from assignor_lab.cli.app import build_app
from assignor_lab.model.history import GroupHistory
from tests.capture.captured_logs import CAPTURES

__all__ = ["EVENT_GROUPS", "event_folder", "event_history", "run", "shown"]

EVENT_GROUPS = ("static", "outage", "moved", "streamed", "looping")
_EVENTS = CAPTURES / "events"


def event_folder(parent: Path, group: str, until_offset: int | None = None) -> Path:
    """The recording of a group; ``until_offset``: without the records from there on."""
    folder = parent / group
    folder.mkdir()
    lines = gzip.decompress((_EVENTS / group / "records.jsonl.gz").read_bytes()).decode().splitlines(keepends=True)
    if until_offset is not None:
        lines = [line for line in lines if json.loads(line).get("offset", -1) < until_offset]
    (folder / "records.jsonl").write_text("".join(lines))
    shutil.copy(_EVENTS / group / "brokers.json", folder)
    return folder


def event_history(folder: Path) -> GroupHistory:
    problems: list[str] = []
    past = read_past([str(folder)], PastSurroundings(on_problem=problems.append))
    assert problems == []
    (history,) = group_histories(past.scenarios, past.events)
    return history


def run(*words: object) -> Result:
    arguments = [str(word) for word in words]
    return CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False)


def shown(*words: object) -> Any:
    """The document of a command."""
    return json.loads(run(*words, "--json").stdout)
