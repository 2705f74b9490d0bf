"""The timeline of a history: each decision with its time, who had come and gone, why, and what moved."""

from __future__ import annotations

from typing import Any

import attrs

from assignor_lab.capture.histories.history import History
from assignor_lab.capture.histories.moments import Moment
from assignor_lab.capture.histories.presence import instance_names
from assignor_lab.capture.histories.reasons import inferred_reason

__all__ = ["ACTIVE_TASKS", "JOBS", "GroupTimeline", "TimelineEntry", "timeline_of"]


#: What may move; jobs have no copies.
ACTIVE_TASKS, JOBS = "active tasks", "jobs"


@attrs.frozen
class TimelineEntry:
    """One decision of a history.

    Args:
        time_ms: When, in epoch milliseconds.
        generation: Generation or epoch, or ``None``.
        waited_ms: From the beginning of the rebalance to the decision, or ``None``: not told.
        instances: Number of instances.
        members: Number of members.
        joined: Instances that were not there before; in the first decision nobody is new.
        gone: Instances that are not there any more.
        restarted: Instances whose members are all others than before.
        active_moved: Active tasks that an instance ran which is still there, and that another one is given.
        copies_made: Copies of state where none was before, those of tasks that were active there not counted.
        followup: ``none`` or ``probing``.
        reason: Reason of the rebalance, as the source has it; empty if it has none.
        active_taken_over: Active tasks of instances that are gone, which others are given.
        inferred_reason: The same, inferred from this decision and the one before; empty if the source has one, or if
            the decisions do not show it.
        missing: Numbers of generations before this one that the history does not have: first and last, or ``None``.
    """

    time_ms: int
    generation: int | None
    waited_ms: int | None
    instances: int
    members: int
    joined: tuple[str, ...]
    gone: tuple[str, ...]
    restarted: tuple[str, ...]
    active_moved: int
    copies_made: int
    followup: str
    reason: str
    missing: tuple[int, int] | None
    inferred_reason: str = ""
    active_taken_over: int = 0

    def document(self) -> dict[str, Any]:
        """As JSON."""
        fields = attrs.asdict(self, recurse=False)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


@attrs.frozen
class GroupTimeline:
    """The past of a group of any kind.

    Args:
        group: The group; empty if the source does not tell.
        protocol: What its members speak.
        moves: What is counted as moved: ``active tasks``, or ``jobs``, which have no copies.
        entries: Its decisions by time.
    """

    group: str
    protocol: str
    moves: str
    entries: tuple[TimelineEntry, ...]

    @classmethod
    def of(cls, history: History) -> GroupTimeline:
        """That of a Streams group."""
        return cls(history.group, history.protocol, ACTIVE_TASKS, tuple(timeline_of(history)))

    def document(self) -> dict[str, Any]:
        """As JSON."""
        decisions = [entry.document() for entry in self.entries]
        return {"group": self.group, "protocol": self.protocol, "moves": self.moves, "decisions": decisions}


def timeline_of(history: History) -> list[TimelineEntry]:
    """The decisions of a history, by time; instances by what their members' names begin with."""
    names = instance_names(history.moments, ())
    entries = []
    before: Moment | None = None
    for moment in history.moments:
        entries.append(_entry(moment, before, names, history.protocol))
        before = moment
    return entries


def _entry(moment: Moment, before: Moment | None, names: dict[str, str], protocol: str) -> TimelineEntry:
    here = {names[process]: each for process, each in moment.participants.items()}
    there = here if before is None else {names[process]: each for process, each in before.participants.items()}
    again = [
        name
        for name, each in here.items()
        if name in there and each.members and there[name].members and each.members.isdisjoint(there[name].members)
    ]
    ran, had = _held(before or moment)
    runs, has = _held(moment)
    return TimelineEntry(
        time_ms=moment.time_ms,
        generation=moment.generation,
        waited_ms=None if moment.prepared_ms is None else max(0, moment.time_ms - moment.prepared_ms),
        instances=len(here),
        members=sum(len(each.members) for each in here.values()),
        joined=tuple(sorted(here.keys() - there.keys())),
        gone=tuple(sorted(there.keys() - here.keys())),
        restarted=tuple(sorted(again)),
        active_moved=moment.evidence.moved,
        copies_made=len(has - had - {(task, process) for task, process in ran.items()}),
        followup=moment.followup,
        reason=moment.reason,
        missing=_missing(moment, before, protocol),
        inferred_reason="" if moment.reason else inferred_reason(moment, before, names),
        active_taken_over=sum(task in ran and ran[task] not in moment.participants for task in runs),
    )


def _held(moment: Moment) -> tuple[dict[str, str], set[tuple[str, str]]]:
    """Task to the process that runs it, and copies: task and process."""
    runs = {task: process for process, (active, _) in moment.placed.items() for task in active}
    return runs, {(task, process) for process, (_, copies) in moment.placed.items() for task in copies}


def _missing(moment: Moment, before: Moment | None, protocol: str) -> tuple[int, int] | None:
    """Generations in between; epochs of the streams protocol that nothing was decided on are no gap."""
    if protocol != "classic" or before is None or moment.generation is None or before.generation is None:
        return None
    gap = before.generation + 1, moment.generation - 1
    return gap if gap[0] <= gap[1] else None
