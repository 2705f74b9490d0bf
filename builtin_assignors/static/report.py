"""Pins that ``static`` could not meet, with reasons."""

from __future__ import annotations

import enum

import attrs

from assignment_api import TaskAssignment, TaskId
from builtin_assignors.static.pins import TaskPin

__all__ = ["StaticAnswer", "UnmetPin", "UnmetReason"]

#: Tasks that a sentence lists before it only counts the rest.
_LISTED = 5


class UnmetReason(enum.Enum):
    """Reason why a pin could not be met."""

    #: The pin names no client with a thread: the delegate placed the tasks.
    NO_CLIENT = "NO_CLIENT"
    #: Fewer clients than configured standbys: the rest went to clients that no pin names.
    TOO_FEW_CLIENTS = "TOO_FEW_CLIENTS"
    #: The application has no such task, or earlier pins took all of them.
    NO_TASK = "NO_TASK"


@attrs.frozen
class UnmetPin:
    """A pin that was not met, or only in part.

    Args:
        is_standby: Whether it is a pin of standbys.
        tasks: The tasks concerned, in order; empty for ``NO_TASK``.
    """

    pin: TaskPin
    is_standby: bool
    reason: UnmetReason
    tasks: tuple[TaskId, ...] = ()

    def __str__(self) -> str:
        named = f"{'standby ' if self.is_standby else ''}pin '{self.pin.text}'"
        tasks = ", ".join(map(str, self.tasks[:_LISTED]))
        if len(self.tasks) > _LISTED:
            tasks += f" and {len(self.tasks) - _LISTED} more"
        if self.reason is UnmetReason.NO_TASK:
            return f"{named} applies to no task: the application has none of these, or pins before it took them"
        if self.reason is UnmetReason.TOO_FEW_CLIENTS:
            return f"{named}: too few clients for all standbys of {tasks}; the others were placed elsewhere"
        elsewhere = "placed elsewhere" if self.is_standby else "placed by the delegate"
        return f"{named}: no client with a thread matches; {tasks} {elsewhere}"


@attrs.frozen
class StaticAnswer:
    """An answer with its report.

    Args:
        unmet: Unmet pins: those of actives first, each kind in the order of the configuration.
        no_wildcard_clients: Pins name every client, so tasks without a pin had to go to these.
    """

    assignment: TaskAssignment
    unmet: tuple[UnmetPin, ...] = ()
    no_wildcard_clients: bool = False
