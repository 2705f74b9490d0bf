"""An operator's file with the tasks' weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.shapes import suggestion
from assignor_lab.simulation.streams.formats.episodes import read_workload

__all__ = ["weighed"]


def weighed(documents: Iterable[Mapping[str, Any]], file: Path) -> Iterator[dict[str, Any]]:
    """A file's workload in place of the documents' own.

    Errors: ``changelogs`` (a key of episodes), and, after all documents, a task that no document has.
    """
    given = read_workload(file)
    if "changelogs" in given:
        raise DocumentFormatError(
            str(file),
            None,
            "changelogs",
            "are part of an episode: give them to replay or simulate --from, with --workload",
        )
    tasks: Mapping[str, Any] = given.get("tasks", {})
    known: set[str] = set()
    for document in documents:
        here = _tasks_of(document)
        known |= here
        if here:
            yield {**document, "workload": {**given, "tasks": {name: tasks[name] for name in tasks if name in here}}}
        else:
            yield dict(document)
    for name in tasks:
        if name not in known:
            reason = f"there is no task {name!r:.80}: {suggestion(name, sorted(known), 'tasks')}"
            raise DocumentFormatError(str(file), None, "tasks", reason)


def _tasks_of(document: Mapping[str, Any]) -> set[str]:
    """In either protocol; none for other kinds."""
    if "subtopologies" in document:
        return {f"{each['id']}_{number}" for each in document["subtopologies"] for number in range(each["tasks"])}
    return {task["id"] for task in document.get("tasks", ())}
