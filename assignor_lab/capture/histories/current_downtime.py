"""Recorded downtime in the streams protocol, from the members' current assignments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from assignment_api.streams import TaskId
from assignor_lab.capture.histories.moments import DecisionMoment
from assignor_lab.capture.histories.presence import RecordedPresence

__all__ = ["current_downtime"]

_ENDS = ("stop", "crash")


def current_downtime(
    moments: Sequence[DecisionMoment], presence: RecordedPresence, first_ms: int, until_ms: int
) -> dict[str, Any] | None:
    """``None`` if the source has no current assignments.

    A member loses a task when its current assignment revokes the task, when it leaves, or when its instance ends. The
    next owner runs the task from the current assignment that has it: restoring is not visible.
    """
    changes = sorted(
        (change for moment in moments for change in moment.document["source"].get("current", ())),
        key=itemgetter("time_ms"),
    )
    if not changes:
        return None
    owned = _owned(changes, moments, presence, until_ms)
    found = {task: _between(owned[task], first_ms, until_ms) for task in sorted(owned, key=_task_order)}
    tasks = {
        task: [[begin - first_ms, end - first_ms] for begin, end in intervals]
        for task, intervals in found.items()
        if intervals
    }
    return {"tasks": tasks, "shows_restoring": False}


def _owned(
    changes: Iterable[Mapping[str, Any]], moments: Sequence[DecisionMoment], presence: RecordedPresence, until_ms: int
) -> dict[str, list[tuple[int, int]]]:
    """Each task of a target is a key."""
    ends = _ends_of(presence)
    instances = {
        member: presence.names[each.process_id]
        for moment in moments
        for each in moment.participants.values()
        for member in each.members
    }
    found: dict[str, list[tuple[int, int]]] = {
        task: [] for moment in moments for active, _ in moment.placed.values() for task in active
    }
    held: dict[tuple[str, str], int] = {}

    def close(member: str, task: str, time_ms: int) -> None:
        begin = held.pop((member, task))
        ended = _first_between(ends.get(instances.get(member, ""), ()), begin, time_ms)
        found.setdefault(task, []).append((begin, time_ms if ended is None else ended))

    for change in changes:
        member = change["member"]
        active = {f"{key}_{number}" for key, numbers in change["active"].items() for number in numbers}
        for task in [task for name, task in held if name == member and task not in active]:
            close(member, task, change["time_ms"])
        for task in active:
            held.setdefault((member, task), change["time_ms"])
    for member, task in list(held):
        close(member, task, until_ms)
    return found


def _between(owned: Iterable[tuple[int, int]], first_ms: int, until_ms: int) -> list[tuple[int, int]]:
    found, at = [], first_ms
    for begin, end in sorted(owned):
        if begin >= until_ms:
            break
        if begin > at:
            found.append((at, begin))
        at = max(at, end)
    return [*found, (at, until_ms)] if at < until_ms else found


def _task_order(task: str) -> tuple[bytes, int, int]:
    return TaskId.parse(task).sort_key()


def _ends_of(presence: RecordedPresence) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for each in presence.happened:
        if each.type in _ENDS:
            found.setdefault(each.name, []).append(each.time_ms)
    return found


def _first_between(times: Iterable[int], after_ms: int, until_ms: int) -> int | None:
    return next((each for each in times if after_ms < each <= until_ms), None)
