"""What an operator's file tells of the tasks' weight, put into decisions whose source does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.shapes import suggestion
from assignor_lab.simulation.streams.episode_format import read_workload

__all__ = ["weighed"]


def weighed(documents: Iterable[Mapping[str, Any]], file: Path) -> Iterator[dict[str, Any]]:
    """The documents with a file's workload in place of their own.

    Args:
        documents: Scenarios of kind ``streams``.
        file: One JSON object in the form of a scenario's ``workload``.

    Raises:
        DocumentFormatError: if the file cannot be read, is no workload, tells of ``changelogs``, which are those of an
            episode, or names a task that none of the documents has; all of these have been yielded then.
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
        here = {task["id"] for task in document["tasks"]}
        known |= here
        yield {**document, "workload": {**given, "tasks": {name: tasks[name] for name in tasks if name in here}}}
    for name in tasks:
        if name not in known:
            reason = f"there is no task {name!r:.80}: {suggestion(name, sorted(known), 'tasks')}"
            raise DocumentFormatError(str(file), None, "tasks", reason)
