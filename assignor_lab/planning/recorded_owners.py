"""Check of a recorded decision of a Streams group before plays begin with it: each task exists, and has one owner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assignor_lab.capture.edges.decision_input import DecisionInput, named_tasks, protocol_of
from assignor_lab.documents.errors import DocumentFormatError, key_path
from assignor_lab.model.decision import CLASSIC
from assignor_lab.scenarios import Scenario

__all__ = ["check_owners"]

_Path = tuple[str, ...]


def check_owners(scenario: Scenario) -> None:
    """Refuses a decision that no Streams group can have. A state without one passes.

    Raises:
        DocumentFormatError: if it names a task or a process that the state lacks, or a second owner of an active task.
    """
    document = scenario.document
    if scenario.observed is None or protocol_of(document) is None:
        return
    place, known = scenario.place, DecisionInput(document).tasks
    owners: dict[str, _Path] = {}
    for path, tasks in _placed(document):
        for task in tasks:
            if task not in known:
                reason = f"task {task} is no task of this state: remove it, or add the task"
                raise DocumentFormatError(place.file, place.line, key_path(path), reason)
            if path[-1] == "active" and (first := owners.setdefault(task, path)) is not path:
                reason = f"task {task} is active in {key_path(first)}, too: an active task has one owner"
                raise DocumentFormatError(place.file, place.line, key_path(path), reason)


def _placed(document: Mapping[str, Any]) -> Iterator[tuple[_Path, Sequence[str]]]:
    """The tasks of each owner, with their place in the document."""
    observed = document["observed"]
    if protocol_of(document) == CLASSIC:
        for process, held in observed["assignment"].items():
            yield from ((("observed", "assignment", process, role), tasks) for role, tasks in held.items())
        return
    for member, held in observed["members"].items():
        yield from ((("observed", "members", member, role), named_tasks(tasks)) for role, tasks in held.items())
