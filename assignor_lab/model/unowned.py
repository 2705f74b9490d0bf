"""Times of tasks without an owner, as functions of a group's history."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from assignor_lab.model.decision import Decision
from assignor_lab.model.events import (
    GroupEvent,
    InstanceCrashed,
    InstanceGone,
    InstanceRestarted,
    InstanceRestartedInSession,
    InstanceStopped,
)
from assignor_lab.model.history import JOBS, GroupHistory

__all__ = [
    "DEPARTURES", "MemberOwnership", "Unowned", "departure_bounds", "unowned_between_decisions",
    "unowned_by_decisions", "unowned_by_members",
]  # fmt: skip

#: Events after which an instance runs nothing.
DEPARTURES = (InstanceStopped, InstanceCrashed, InstanceGone, InstanceRestarted, InstanceRestartedInSession)

#: Begin and end.
Interval = tuple[int, int]


@attrs.frozen
class Unowned:
    """A time without an owner: the bounds of its begin, and its end; ``None``: it lasts."""

    task: str
    earliest_ms: int
    begin_ms: int
    end_ms: int | None


@attrs.frozen
class MemberOwnership:
    """The active tasks of a member from a time on.

    Args:
        instance: Its instance; empty if unknown.
    """

    time_ms: int
    member: str
    instance: str
    active: frozenset[str]


def unowned_by_decisions(
    history: GroupHistory,
    first_owners: Mapping[str, str],
    restored_ms: Mapping[tuple[str, str], Sequence[int]],
) -> dict[str, list[Interval]]:
    """Each assigned task's times without an owner that runs it, from the begin to the end of the history.

    An instance that ends loses its tasks then. A running instance loses a task with the assignment that moves it. The
    next owner has the task one assignment later, because Kafka's leader holds back a task that another member still
    owns. It runs the task when its log reports the restore as complete, or at once. A static member that returns within
    its session keeps its tasks.

    Args:
        first_owners: Active task to its instance before the first decision.
        restored_ms: Instance and task to the times at which a restore of all its stores was complete, sorted.
    """
    begin_ms, until_ms = _bounds(history)
    seen = _Owners.of(history, restored_ms, until_ms)
    tasks = dict.fromkeys(task for decision in history.decisions for task in decision.owners)
    return {task: _union(seen.unowned(task, first_owners.get(task), begin_ms), begin_ms, until_ms) for task in tasks}


def unowned_by_members(history: GroupHistory, held: Iterable[MemberOwnership]) -> dict[str, list[Interval]]:
    """The same from the members' current assignments, as the streams protocol records them.

    A member loses a task when its current assignment revokes the task, when it leaves, or when its instance ends. The
    next owner runs the task from the current assignment that has it: restoring is not visible.
    """
    begin_ms, until_ms = _bounds(history)
    ends = _ends(history)
    owned: dict[str, list[Interval]] = {task: [] for decision in history.decisions for task in decision.owners}
    since: dict[tuple[str, str], tuple[int, str]] = {}

    def close(member: str, task: str, time_ms: int) -> None:
        begin, instance = since.pop((member, task))
        ended = _first(ends.get(instance, ()), begin, time_ms)
        owned.setdefault(task, []).append((begin, time_ms if ended is None else ended))

    for change in held:
        for task in [task for name, task in since if name == change.member and task not in change.active]:
            close(change.member, task, change.time_ms)
        for task in change.active:
            since.setdefault((change.member, task), (change.time_ms, change.instance))
    for member, task in list(since):
        close(member, task, until_ms)
    return {task: _rest(intervals, begin_ms, until_ms) for task, intervals in owned.items()}


def unowned_between_decisions(
    history: GroupHistory, session_ms: int, first_owners: Mapping[str, str] | None = None
) -> list[Unowned]:
    """Times of jobs and partitions without an owner, as decisions and departures alone show them.

    Connect workers and consumers keep no state, and no record shows when a task starts. So a task is away from the
    departure of its instance, or from the decision that takes it away, until the decision that gives it to an instance.

    Args:
        session_ms: A group notices a departure within this time.
        first_owners: Task to its instance before the first decision.
    """
    owners = dict(first_owners or {})
    lost: dict[str, Interval] = {}
    found: list[Unowned] = []
    for each in history.entries:
        if isinstance(each, Decision):
            found += _decided(each, _tasks_owned(each, history.moves), owners, lost)
        elif isinstance(each, DEPARTURES):
            since, until = departure_bounds(each, session_ms)
            for task in [task for task, owner in owners.items() if owner == each.instance]:
                if isinstance(each, InstanceRestartedInSession):
                    # Records show the rejoin alone, so the end of the process is any time of the session before it.
                    found.append(Unowned(task, since, until if each.at.earliest_ms == until else since, until))
                else:
                    lost[task] = (since, until)
                    del owners[task]
    return [*found, *(Unowned(task, since, until, None) for task, (since, until) in lost.items())]


def departure_bounds(event: GroupEvent, session_ms: int) -> Interval:
    """The earliest and latest time of a departure: a group notices it within a session."""
    if isinstance(event, InstanceRestartedInSession) and event.at.earliest_ms == event.at.latest_ms:
        return event.at.latest_ms - session_ms, event.at.latest_ms
    return max(event.at.earliest_ms, event.at.latest_ms - session_ms), event.at.latest_ms


def _decided(
    decision: Decision, now: Mapping[str, str], owners: dict[str, str], lost: dict[str, Interval]
) -> Iterator[Unowned]:
    at_ms = decision.at.latest_ms
    for task in owners.keys() - now.keys():
        del owners[task]
        # A task that is gone is not away.
        if decision.tasks is None or task in decision.tasks:
            lost[task] = (at_ms, at_ms)
    for task, owner in now.items():
        if task in lost:
            since, until = lost.pop(task)
            yield Unowned(task, since, min(until, at_ms), at_ms)
        owners[task] = owner


def _tasks_owned(decision: Decision, moves: str) -> dict[str, str]:
    owners = {task: name for name, share in decision.shares.items() for task in share.active}
    if moves != JOBS:
        return owners
    # A task is named after its connector, with its number.
    jobs = owners.keys() | (decision.tasks or frozenset())
    return {job: name for job, name in owners.items() if job.rpartition("-")[0] in jobs}


def _bounds(history: GroupHistory) -> Interval:
    last_ms = history.decisions[-1].at.latest_ms
    begin_ms = history.decisions[0].at.latest_ms if history.begin_ms is None else history.begin_ms
    return begin_ms, last_ms if history.until_ms is None else history.until_ms


def _ends(history: GroupHistory) -> dict[str, list[int]]:
    """Instance to the ends of its processes, by time."""
    found: dict[str, list[int]] = {}
    for each in history.events:
        if isinstance(each, InstanceStopped | InstanceCrashed):
            found.setdefault(each.instance, []).append(each.at.latest_ms)
        elif isinstance(each, InstanceRestartedInSession):
            found.setdefault(each.instance, []).append(each.at.earliest_ms)
    return {name: sorted(times) for name, times in found.items()}


def _first(times: Sequence[int], after_ms: int, until_ms: int) -> int | None:
    place = bisect_right(times, after_ms)
    return times[place] if place < len(times) and times[place] <= until_ms else None


def _union(intervals: Iterable[Interval], begin_ms: int, until_ms: int) -> list[Interval]:
    """Without overlaps, within bounds: a task is away at most all the time."""
    found: list[Interval] = []
    for begin, end in sorted(intervals):
        begin, end = max(begin, begin_ms, found[-1][1] if found else begin_ms), min(end, until_ms)
        if end > begin:
            found.append((begin, end))
    return found


def _rest(owned: Iterable[Interval], begin_ms: int, until_ms: int) -> list[Interval]:
    """The time between owned times."""
    found, at = [], begin_ms
    for begin, end in sorted(owned):
        if begin >= until_ms:
            break
        if begin > at:
            found.append((at, begin))
        at = max(at, end)
    return [*found, (at, until_ms)] if at < until_ms else found


@attrs.frozen
class _Owners:
    """Owners by decision.

    Args:
        decided: Time and owners of each decision.
        restarts: Instance to its restarts within a session: end, and time of the rejoin.
        ends: Instance to other ends of its processes.
    """

    decided: Sequence[tuple[int, Mapping[str, str]]]
    restarts: Mapping[str, Sequence[Interval]]
    ends: Mapping[str, Sequence[int]]
    restored_ms: Mapping[tuple[str, str], Sequence[int]]
    until_ms: int

    @classmethod
    def of(cls, history: GroupHistory, restored_ms: Mapping[tuple[str, str], Sequence[int]], until_ms: int) -> _Owners:
        restarts: dict[str, list[Interval]] = {}
        for each in history.events:
            if isinstance(each, InstanceRestartedInSession):
                restarts.setdefault(each.instance, []).append((each.at.earliest_ms, each.at.latest_ms))
        kept = {(name, ended) for name, found in restarts.items() for ended, _ in found}
        ends = {name: [at for at in times if (name, at) not in kept] for name, times in _ends(history).items()}
        decided = [(each.at.latest_ms, each.owners) for each in history.decisions]
        return cls(decided, restarts, ends, restored_ms, until_ms)

    def unowned(self, task: str, owner: str | None, begin_ms: int) -> Iterator[Interval]:
        down: int | None = None if owner is not None else begin_ms
        since = begin_ms
        for place, (now, owners) in enumerate(self.decided):
            wanted = owners.get(task)
            if owner is not None:
                yield from self._restarted(owner, task, since, now, place)
            ended = None if owner is None else _first(self.ends.get(owner, ()), since, now)
            if owner is not None and (ended is not None or wanted != owner):
                # Another member gets the task with the next assignment, unless the owner is gone.
                down, owner = (now, None) if ended is None else (ended, wanted)
            elif owner is None:
                owner = wanted
            if owner is not None and down is not None:
                yield down, self._runs(owner, task, now, place + 1)
                down, since = None, now
        if owner is not None:
            yield from self._restarted(owner, task, since, self.until_ms, len(self.decided))
            down = _first(self.ends.get(owner, ()), since, self.until_ms)
        if down is not None:
            yield down, self.until_ms

    def _restarted(self, owner: str, task: str, after_ms: int, until_ms: int, place: int) -> Iterator[Interval]:
        for ended, back in self.restarts.get(owner, ()):
            if after_ms < ended <= until_ms:
                yield ended, self._runs(owner, task, back, place)

    def _runs(self, owner: str, task: str, at_ms: int, place: int) -> int:
        """The time from which the owner runs a task that it has from a time on.

        Args:
            place: Of the next decision. A restore after a decision that moves the task is one of a later time.
        """
        restored = self.restored_ms.get((owner, task), ())
        if not restored or restored[-1] < at_ms:
            return at_ms
        ended = _first(self.ends.get(owner, ()), at_ms, self.until_ms)
        moved = (time_ms for time_ms, owners in self.decided[place:] if owners.get(task) != owner)
        bound = min(self.until_ms if ended is None else ended, next(moved, self.until_ms))
        # A later restore is one of another thread of the same instance.
        return next((each for each in restored if at_ms <= each <= bound), at_ms)
