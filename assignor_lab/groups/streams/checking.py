"""The checks of a task assignor's answer: every item in it is of the type that the SPI says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs

from assignment_api import (
    AssignedTask,
    AssignedTaskType,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskId,
)
from assignor_lab.runtime.invocation import InvalidAnswerError, check_value
from assignor_lab.runtime.type_checks import TypeCheckError, check_type

__all__ = ["checked_answer"]


def checked_answer(name: str, answer: object, *, is_trusted: bool = False) -> TaskAssignment:
    """``answer`` once every item in it has the type that the SPI says.

    Args:
        name: Who answered.
        answer: What came.
        is_trusted: Of this project: what is in the single tasks need not be looked at.

    Raises:
        InvalidAnswerError: naming the first item that has not.
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
        return  # the usual case: typeguard would look at each of maybe 50,000 items in turn
    check_value(name, place(), items, tuple[expected, ...])  # type: ignore[valid-type]


_FIELD_TYPES: dict[type, dict[str, Any]] = {
    owner: {field.name: field.type for field in attrs.fields(attrs.resolve_types(owner)) if field.name != "tasks"}
    for owner in (StreamsClientAssignment, AssignedTask)
}


def _check_fields(name: str, client: StreamsClientAssignment) -> None:
    deadline = client.followup_rebalance_deadline_ms
    # The usual case first: typeguard takes longer over four fields than some assignors over their answer.
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
