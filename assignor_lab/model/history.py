"""The history of a group: its decisions and the events between them, recorded or played."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

import attrs

from assignor_lab.model.courses import ProbeWindow, TaskCourse
from assignor_lab.model.decision import STREAMS, Decision
from assignor_lab.model.events import (
    GroupDeleted,
    GroupEmptied,
    GroupEvent,
    GroupRefilled,
    InstanceCrashed,
    InstanceStarted,
    InstanceStopped,
    RebalanceCompleted,
)
from assignor_lab.model.identity import GroupInstance

__all__ = [
    "ACTIVE_TASKS",
    "JOBS",
    "PARTITIONS",
    "PLAYED",
    "RECORDED",
    "GroupHistory",
    "GroupName",
    "HistoryEntry",
    "Outage",
    "GroupResponse",
    "number_noun",
    "responses",
]

RECORDED, PLAYED = "recorded", "played"
#: Jobs and partitions have no copies.
ACTIVE_TASKS, JOBS, PARTITIONS = "active tasks", "jobs", "partitions"

#: Protocols whose brokers decide.
_OF_BROKERS = frozenset({STREAMS, "consumer", "share"})
#: One row of a history.
HistoryEntry = Decision | GroupEvent


def number_noun(protocol: str) -> str:
    """Word for the number of a decision: brokers count epochs, and other groups generations."""
    return "epoch" if protocol in _OF_BROKERS else "generation"


@attrs.frozen
class GroupName:
    """A group; it stays one over a change of protocol. ``cluster`` is ``None`` if unknown."""

    group: str
    cluster: str | None = None


@attrs.frozen
class Outage:
    """A time without members; ``until_ms`` is ``None`` while it lasts."""

    since_ms: int
    until_ms: int | None


@attrs.frozen
class GroupResponse:
    """The response of a group to an event, until the next one.

    Args:
        until_stable_ms: From the event to the last assignment, in the streams protocol to the last change of a member's
            tasks; ``None``: there was none.
    """

    rebalances: int
    until_stable_ms: int | None


def responses(
    times_ms: Sequence[int], begun_ms: Sequence[int], decided_ms: Sequence[int], changes_ms: Sequence[int] | None
) -> Sequence[GroupResponse]:
    """The response to each event of some times.

    Args:
        begun_ms: Starts of rebalances, in order.
        decided_ms: Their decisions.
        changes_ms: Changes of members' tasks, in order; ``None``: those of the decisions.
    """
    found = []
    for place, begin in enumerate(times_ms):
        end = times_ms[place + 1] if place + 1 < len(times_ms) else None
        first, until = bisect_left(begun_ms, begin), len(begun_ms) if end is None else bisect_left(begun_ms, end)
        last = decided_ms[until - 1] if until > first else None
        if changes_ms is not None:
            latest = len(changes_ms) if end is None else bisect_left(changes_ms, end)
            last = changes_ms[latest - 1] if latest and changes_ms[latest - 1] >= begin else None
        found.append(GroupResponse(max(0, until - first), None if last is None else last - begin))
    return found


@attrs.frozen
class GroupHistory:
    """The past of one group.

    Args:
        origin: ``recorded`` or ``played``.
        decisions: By time.
        events: By time; inferred ones by their latest possible time.
        instances: In the order of their first appearance.
        moves: ``active tasks``, ``jobs`` of Connect workers, or ``partitions`` of consumers.
        begin_ms: Time of the first event, from which documents count; ``None``: unknown.
        until_ms: End of the history; ``None``: it is that of the last entry.
        courses: Task to its runs and waits; empty if the source has none.
        shows_downtime: True if the waits of the courses are known.
        shows_restoring: True if the waits include restoring.
        changes_ms: Times of changes of members' tasks, in the streams protocol; ``None``: those of the decisions.
        probes: Of a recording with a probe.
        connectors: Connector to the course of its own instance, of a played Connect group.
    """

    name: GroupName
    origin: str
    decisions: tuple[Decision, ...]
    events: tuple[GroupEvent, ...] = ()
    instances: tuple[GroupInstance, ...] = ()
    moves: str = ACTIVE_TASKS
    begin_ms: int | None = None
    until_ms: int | None = None
    courses: Mapping[str, TaskCourse] = attrs.field(factory=dict)
    shows_downtime: bool = False
    shows_restoring: bool = False
    changes_ms: tuple[int, ...] | None = None
    probes: tuple[ProbeWindow, ...] = ()
    connectors: Mapping[str, TaskCourse] = attrs.field(factory=dict)

    @property
    def group(self) -> str:
        return self.name.group

    @property
    def protocols(self) -> tuple[str, ...]:
        """Without repetitions, by time."""
        return tuple(dict.fromkeys(each.protocol for each in self.decisions))

    def between(self, after: Decision | None, until: Decision) -> Iterator[GroupEvent]:
        """Events after a decision and until another; ``None``: from the beginning."""
        begin = None if after is None else after.at.latest_ms
        for each in self.events:
            if (begin is None or each.at.latest_ms > begin) and each.at.latest_ms <= until.at.latest_ms:
                yield each

    @property
    def entries(self) -> Sequence[HistoryEntry]:
        """Decisions and events by their latest time; an event precedes a decision of the same time."""
        rows: list[HistoryEntry] = [*self.events, *self.decisions]
        return sorted(rows, key=lambda each: (each.at.latest_ms, isinstance(each, Decision)))

    def responses(self, times_ms: Sequence[int]) -> Sequence[GroupResponse]:
        """The response to each event of some times, which are in order."""
        decided = sorted(self.decisions, key=lambda each: each.since_ms)
        return responses(
            times_ms,
            [each.since_ms for each in decided],
            [each.at.latest_ms for each in decided],
            self.changes_ms,
        )

    @property
    def downtimes_ms(self) -> Mapping[str, int]:
        """Task to its time without an owner that runs it."""
        return {task: each.downtime_ms for task, each in self.courses.items()}

    @property
    def tasks_by_downtime(self) -> Sequence[str]:
        """The longest downtime first; equal ones in the order of the courses."""
        away = self.downtimes_ms
        return sorted(away, key=lambda task: -away[task])

    @property
    def joined_ms(self) -> Sequence[int]:
        """Times at which all members of a rebalance had joined, those of rebalances without a decision included."""
        decided = [each.at.latest_ms if each.joined_ms is None else each.joined_ms for each in self.decisions]
        return sorted([*decided, *(each.at.latest_ms for each in self.events if isinstance(each, RebalanceCompleted))])

    @property
    def lives(self) -> Mapping[str, Sequence[tuple[int, int | None]]]:
        """Instance to the begins and ends of its processes; ``None``: it runs at the end of the history.

        An instance without a start is there from the beginning.
        """
        first = self.begin_ms or 0
        found: dict[str, list[tuple[int, int | None]]] = {each.name: [] for each in self.instances}
        for each in self.events:
            if isinstance(each, InstanceStarted):
                found.setdefault(each.instance, []).append((each.at.latest_ms, None))
            elif isinstance(each, InstanceStopped | InstanceCrashed):
                lives = found.setdefault(each.instance, [])
                begin = lives.pop()[0] if lives else first
                lives.append((begin, each.at.latest_ms))
        return {name: lives or [(first, None)] for name, lives in found.items()}

    @property
    def outages(self) -> Iterator[Outage]:
        """Times without members, by start."""
        since: int | None = None
        for each in self.events:
            if isinstance(each, GroupEmptied | GroupDeleted):
                since = each.at.earliest_ms if since is None else since
            elif isinstance(each, GroupRefilled) and since is not None:
                yield Outage(since, each.at.latest_ms)
                since = None
        if since is not None:
            yield Outage(since, None)

    @property
    def is_empty_now(self) -> bool:
        """True if the latest sign of the group shows no members."""
        return any(each.until_ms is None for each in self.outages)
