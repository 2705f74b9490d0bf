"""Rebalances of a classic group without a change of its members: its leader has seen other metadata of topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assignor_lab.capture.edges.happened import Happened
from assignor_lab.capture.edges.moments import DecisionMoment

__all__ = ["repeated_decisions"]

#: The time until a member learns of a follow-up, and takes part in it.
_FOLLOW_UP_MS = 10_000


def repeated_decisions(
    moments: Sequence[DecisionMoment], happened: Iterable[Happened], interval_ms: int, first: int = 1
) -> Iterator[Happened]:
    """A ``metadata_changes`` event for each decision that neither members nor the decision before it explain.

    The decision before it announces no probing rebalance, nothing happens between the two, and no task moves between
    running instances: several follow-ups can come after such a decision, if threads are busy.

    Args:
        interval_ms: ``heartbeat.interval.ms``: the members rejoin within it.
        first: Place of the first decision that counts; at least 1.
    """
    times = sorted(each.time_ms for each in happened)
    for place in range(first, len(moments)):
        before, now = moments[place - 1], moments[place]
        if before.followup != "none" or not _is_same_group(before, now):
            continue
        if any(before.time_ms < at <= now.time_ms for at in times) or _is_followed_up(moments, place):
            continue
        at_ms = now.time_ms - 1 if now.prepared_ms is None else now.prepared_ms
        earliest = max(before.time_ms + 1, at_ms - interval_ms)
        within = (min(earliest, at_ms), at_ms) if now.prepared_ms is None else None
        yield Happened(max(before.time_ms + 1, at_ms), "metadata_changes", "", within)


def _is_same_group(before: DecisionMoment, now: DecisionMoment) -> bool:
    members = [{process: each.members for process, each in moment.participants.items()} for moment in (before, now)]
    return members[0] == members[1] and set(before.input.tasks) == set(now.input.tasks)


def _is_followed_up(moments: Sequence[DecisionMoment], place: int) -> bool:
    while place:
        before = moments[place - 1]
        if moments[place].time_ms - before.time_ms > _FOLLOW_UP_MS or not _is_same_group(before, moments[place]):
            return False
        place -= 1
        if _hands_over(moments, place):
            return True
    return False


def _hands_over(moments: Sequence[DecisionMoment], place: int) -> bool:
    """True if the decision gives a task to another instance than the running one that has it."""
    now = moments[place]
    had = moments[place - 1].placed if place else {}
    owners = {task: process for process, (active, _) in had.items() for task in active}
    return any(
        owners.get(task, process) != process and owners[task] in now.participants
        for process, (active, _) in now.placed.items()
        for task in active
    )
