"""The checks of a task assignor's answer: the type of every item, and faults that its dense view shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import compress
from operator import not_
from typing import Any

import attrs

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignedTaskType,
    AssignmentError,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskId,
)
from assignment_api.utils.validation import strict_findings, validate_task_assignment
from assignor_lab.groups.metrics.definition import derived
from assignor_lab.groups.streams.placement import StreamsPlacement, placement_of, standby_counts
from assignor_lab.runtime.invocation import InvalidAnswerError, check_value
from assignor_lab.runtime.type_checks import TypeCheckError, check_type

__all__ = ["checked_answer", "number_of_findings", "validation_of"]


def checked_answer(name: str, answer: object, *, is_trusted: bool = False) -> TaskAssignment:
    """``answer`` if every item in it has its type of the SPI; parts of single tasks are unchecked if it is trusted.

    Raises:
        InvalidAnswerError: naming the first item of another type.
    """
    if not isinstance(answer, TaskAssignment):
        raise InvalidAnswerError(f"assignor {name} returned {type(answer).__name__}, expected TaskAssignment")
    _check_items(name, lambda: "assignments", answer.assignments, StreamsClientAssignment)
    _check_items(name, lambda: "remarks", answer.remarks, str)
    for client in answer.assignments:
        _check_items(name, partial(_tasks_place, client), client.tasks, AssignedTask)
        _check_fields(name, client)
        if not is_trusted:
            _check_tasks(name, client)
    return answer


def _tasks_place(client: StreamsClientAssignment) -> str:
    return f"assignments[{client.process_id}].tasks"


def _check_items(name: str, place: Callable[[], str], items: tuple[Any, ...], expected: type) -> None:
    if type(items) is tuple and set(map(type, items)) <= {expected}:
        return
    check_value(name, place(), items, tuple[expected, ...])  # type: ignore[valid-type]


_FIELD_TYPES: dict[type, dict[str, Any]] = {
    owner: {field.name: field.type for field in attrs.fields(attrs.resolve_types(owner)) if field.name != "tasks"}
    for owner in (StreamsClientAssignment, AssignedTask)
}


def _check_fields(name: str, client: StreamsClientAssignment) -> None:
    deadline = client.followup_rebalance_deadline_ms
    if type(client.process_id) is not ProcessID or not (deadline is None or type(deadline) is int):
        _check_values(name, f"assignment of {client.process_id}", client)
    if deadline is not None and not -(1 << 63) <= deadline < 1 << 63:
        raise InvalidAnswerError(
            f"assignor {name}: assignment of {client.process_id}: followup_rebalance_deadline_ms {deadline:.3e} is no "
            "64-bit number of milliseconds"
        )


def _check_tasks(name: str, client: StreamsClientAssignment) -> None:
    checked = {(TaskId, AssignedTaskType)}
    for task in client.tasks:
        shape = (type(task.id), type(task.type))
        if shape not in checked:
            _check_values(name, f"assignment of {client.process_id}: task {task.id}", task)
            checked.add(shape)


def _check_values(name: str, place: str, value: StreamsClientAssignment | AssignedTask) -> None:
    for field, expected in _FIELD_TYPES[type(value)].items():
        try:
            check_type(getattr(value, field), expected)
        except TypeCheckError as error:
            raise InvalidAnswerError(f"assignor {name}: {place}: {field}: {error}") from error


def validation_of(application: ApplicationMetadata, assignment: TaskAssignment) -> AssignmentError:
    if _is_faultless(placement_of(application, assignment)):
        return AssignmentError.NONE
    return validate_task_assignment(application, assignment)


def number_of_findings(application: ApplicationMetadata, assignment: TaskAssignment) -> int:
    if _is_faultless(placement_of(application, assignment)):
        return 0
    return len(strict_findings(application, assignment))


@derived
def _is_faultless(placement: StreamsPlacement) -> bool:
    if not placement.is_exact or -1 in placement.owner:
        return False
    configs = placement.state.application.assignment_configs()
    wanted = max(configs.num_standby_replicas, 0)
    held = standby_counts(placement)
    if any(compress(held, map(not_, placement.state.stateful))):
        return False
    return sum([number - wanted for number in held if number > wanted]) <= configs.max_warmup_replicas
