"""Errors of validation in words."""

from __future__ import annotations

from collections.abc import Iterable

from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.assignment import AssignmentError, TaskAssignment
from assignment_api.streams.ids import ProcessID, TaskId

__all__ = ["refusal_sentence"]

_MOST_NAMES = 5


def refusal_sentence(application: ApplicationMetadata, assignment: TaskAssignment, error: AssignmentError) -> str:
    """A sentence about ``error`` (not ``NONE``), with up to five tasks or clients concerned."""
    states = application.streams_client_states()
    if error is AssignmentError.UNKNOWN_TASK_ID:
        known = application.all_tasks()
        strange = [
            f"{task.id} (given to {client.process_id})"
            for client in assignment.assignments
            for task in client.tasks
            if task.id not in known
        ]
        return f"the application has no task {_listed(strange)}"
    if error is AssignmentError.ACTIVE_TASK_ASSIGNED_MULTIPLE_TIMES:
        return f"active more than once: {_listed(_shared_actives(assignment))}"
    if error is AssignmentError.INVALID_STANDBY_TASK:
        infos = application.task_infos()
        wrong = [
            f"{task} (on {client.process_id})"
            for client in assignment.assignments
            for task in client.standby_tasks()
            if task in infos and not infos[task].is_stateful
        ]
        return f"standby of a task without state: {_listed(wrong)}"
    if error is AssignmentError.MISSING_PROCESS_ID:
        placed = {client.process_id for client in assignment.assignments}
        missing = [str(process) for process in states if process not in placed]
        return f"no assignment for client {_listed(missing)}: each needs one, an empty one where it gets nothing"
    if error is AssignmentError.UNKNOWN_PROCESS_ID:
        unknown = [str(client.process_id) for client in assignment.assignments if client.process_id not in states]
        return f"the application has no client {_listed(unknown)}"
    return "nothing is wrong"


def _shared_actives(assignment: TaskAssignment) -> list[str]:
    holders: dict[TaskId, list[ProcessID]] = {}
    for client in assignment.assignments:
        for task in client.active_tasks():
            holders.setdefault(task, []).append(client.process_id)
    return [f"{task} (on {' and '.join(map(str, held))})" for task, held in holders.items() if len(held) > 1]


def _listed(names: Iterable[str]) -> str:
    all_names = list(names)
    shown = ", ".join(all_names[:_MOST_NAMES])
    return shown if len(all_names) <= _MOST_NAMES else f"{shown} and {len(all_names) - _MOST_NAMES} more"
