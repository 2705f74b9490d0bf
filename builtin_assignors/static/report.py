"""Pins that ``static`` could not follow, with reasons."""

from __future__ import annotations

import enum

import attrs

from assignment_api import TaskAssignment, TaskId
from builtin_assignors.static.pins import Pin

__all__ = ["StaticAnswer", "UnmetPin", "UnmetReason"]

#: Tasks that a sentence lists before it only counts.
_LISTED = 5


class UnmetReason(enum.Enum):
    """Why a pin could not be followed."""

    #: No client with a thread is one of those that the pin names: the delegate placed the tasks.
    NO_CLIENT = "NO_CLIENT"
    #: Fewer clients than standbys are asked for: the rest went to clients that no pin names.
    TOO_FEW_CLIENTS = "TOO_FEW_CLIENTS"
    #: The application has no such task, or pins before this one took them all.
    NO_TASK = "NO_TASK"


@attrs.frozen
class UnmetPin:
    """One pin that was not followed, or not in full.

    Args:
        pin: The pin.
        is_standby: Whether it is a pin of standbys.
        reason: Why.
        tasks: The tasks concerned, in order; empty for ``NO_TASK``.
    """

    pin: Pin
    is_standby: bool
    reason: UnmetReason
    tasks: tuple[TaskId, ...] = ()

    def __str__(self) -> str:
        what = f"{'standby ' if self.is_standby else ''}pin '{self.pin.text}'"
        tasks = ", ".join(map(str, self.tasks[:_LISTED]))
        if len(self.tasks) > _LISTED:
            tasks += f" and {len(self.tasks) - _LISTED} more"
        if self.reason is UnmetReason.NO_TASK:
            return f"{what} applies to no task: the application has none of these, or pins before it took them"
        if self.reason is UnmetReason.TOO_FEW_CLIENTS:
            return f"{what}: too few clients for all standbys of {tasks}; the others were placed elsewhere"
        elsewhere = "placed elsewhere" if self.is_standby else "placed by the delegate"
        return f"{what}: no client with a thread matches; {tasks} {elsewhere}"


@attrs.frozen
class StaticAnswer:
    """An answer with the report beside it.

    Args:
        assignment: The answer; its remarks are the report in sentences.
        unmet: Pins that were not followed: those of actives first, each kind in the order of the configuration.
        no_wildcard_clients: Every client is named by some pin, so tasks without a pin had to go to these.
    """

    assignment: TaskAssignment
    unmet: tuple[UnmetPin, ...] = ()
    no_wildcard_clients: bool = False
