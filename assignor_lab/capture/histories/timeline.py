"""The timeline of a history: time of each decision, changed members, reason, and moved tasks."""

from __future__ import annotations

from typing import Any

import attrs

from assignor_lab.capture.histories.history import DecisionHistory
from assignor_lab.capture.histories.moments import DecisionMoment
from assignor_lab.capture.histories.presence import instance_names
from assignor_lab.capture.histories.reasons import inferred_reason

__all__ = ["ACTIVE_TASKS", "JOBS", "GroupTimeline", "TimelineEntry", "timeline_of"]


#: Jobs have no copies.
ACTIVE_TASKS, JOBS = "active tasks", "jobs"


@attrs.frozen
class TimelineEntry:
    """One decision of a history.

    Args:
        waited_ms: From the start of the rebalance to the decision.
        joined: None in the first decision.
        restarted: Instances whose members all have new ids.
        active_moved: Active tasks that move between two present instances.
        copies_made: New copies, except of tasks that were active there.
        reason: In the source; empty without one.
        active_taken_over: Active tasks of missing instances that others receive.
        inferred_reason: From this and the previous decision; empty if the source has one.
        missing: First and last missing generation before this one.
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
        fields = attrs.asdict(self, recurse=False)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


@attrs.frozen
class GroupTimeline:
    """The past of a group of any kind.

    Args:
        moves: ``active tasks``, or ``jobs``.
    """

    group: str
    protocol: str
    moves: str
    entries: tuple[TimelineEntry, ...]

    @classmethod
    def of(cls, history: DecisionHistory) -> GroupTimeline:
        return cls(history.group, history.protocol, ACTIVE_TASKS, tuple(timeline_of(history)))

    def document(self) -> dict[str, Any]:
        decisions = [entry.document() for entry in self.entries]
        return {"group": self.group, "protocol": self.protocol, "moves": self.moves, "decisions": decisions}


def timeline_of(history: DecisionHistory) -> list[TimelineEntry]:
    """Instances under the prefix of their members' names."""
    names = instance_names(history.moments, ())
    entries = []
    before: DecisionMoment | None = None
    for moment in history.moments:
        entries.append(_entry(moment, before, names, history.protocol))
        before = moment
    return entries


def _entry(
    moment: DecisionMoment, before: DecisionMoment | None, names: dict[str, str], protocol: str
) -> TimelineEntry:
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


def _held(moment: DecisionMoment) -> tuple[dict[str, str], set[tuple[str, str]]]:
    """Owners, and pairs of task and process for copies."""
    runs = {task: process for process, (active, _) in moment.placed.items() for task in active}
    return runs, {(task, process) for process, (_, copies) in moment.placed.items() for task in copies}


def _missing(moment: DecisionMoment, before: DecisionMoment | None, protocol: str) -> tuple[int, int] | None:
    """Epochs of the streams protocol without a decision are no gap."""
    if protocol != "classic" or before is None or moment.generation is None or before.generation is None:
        return None
    gap = before.generation + 1, moment.generation - 1
    return gap if gap[0] <= gap[1] else None
