"""Recorded downtime of tasks, until the next owner runs them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.capture.histories.moments import DecisionMoment
from assignor_lab.capture.histories.presence import Happened, RecordedPresence
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["recorded_downtime"]

_ENDS = ("stop", "crash")


def recorded_downtime(
    moments: Sequence[DecisionMoment],
    presence: RecordedPresence,
    first_ms: int,
    until_ms: int,
    timings: StreamsTimings,
    *,
    begins_empty: bool,
) -> dict[str, Any]:
    """Task to its intervals, milliseconds since the first event.

    An instance that ends loses its tasks then. A running instance loses a task with the assignment that moves it. The
    next owner has the task one assignment later, because Kafka's leader holds back a task that another member still
    owns. It runs the task when its log reports the restore as complete, or at once. A static member that returns within
    its session keeps its tasks.
    """
    seen = _Seen(moments, presence, timings)
    owners = {} if begins_empty else _first_owners(moments[0], presence.names)
    tasks = dict.fromkeys(task for moment in moments for active, _ in moment.placed.values() for task in active)
    found = {
        task: [
            [begin - first_ms, end - first_ms]
            for begin, end in _union(seen.intervals(task, owners.get(task), first_ms, until_ms), first_ms, until_ms)
        ]
        for task in tasks
    }
    return {
        "tasks": {task: intervals for task, intervals in found.items() if intervals},
        "shows_restoring": any(moment.document["source"].get("restored") for moment in moments),
    }


def _union(intervals: Iterable[tuple[int, int]], first_ms: int, until_ms: int) -> list[tuple[int, int]]:
    """Without overlaps, within bounds: a task is away at most all the time."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(intervals):
        begin, end = max(begin, first_ms, found[-1][1] if found else first_ms), min(end, until_ms)
        if end > begin:
            found.append((begin, end))
    return found


def _first_owners(first: DecisionMoment, names: Mapping[str, str]) -> dict[str, str]:
    return {
        task: names[client["process_id"]]
        for client in first.document["clients"]
        if client["process_id"] in names
        for task in client["previous_active"]
    }


@attrs.define
class _Seen:
    moments: Sequence[DecisionMoment]
    presence: RecordedPresence
    timings: StreamsTimings
    #: Restarts within a session: end, and time of the rejoin.
    restarts: dict[str, list[tuple[int, int]]] = attrs.field(init=False, factory=dict)
    ends: dict[str, list[int]] = attrs.field(init=False, factory=dict)
    #: Client id and task to logged ends of restores.
    restored: dict[tuple[str, str], list[int]] = attrs.field(init=False, factory=dict)
    clients: dict[str, str] = attrs.field(init=False, factory=dict)
    owners: list[dict[str, str]] = attrs.field(init=False, factory=list)

    def __attrs_post_init__(self) -> None:
        names = self.presence.names
        for each in self.presence.happened:
            ends = self.ends.setdefault(each.name, [])
            if each.type in _ENDS:
                ends.append(each.time_ms)
            elif each.type == "start" and "instance_id" in each.details and ends and self._keeps(ends[-1], each):
                startup_ms = each.details.get("startup_ms", self.timings.startup_ms)
                back_ms = each.time_ms + startup_ms + self.timings.join_ms
                self.restarts.setdefault(each.name, []).append((ends.pop(), back_ms))
        for moment in self.moments:
            for each in moment.document["source"].get("restored", ()):
                self.restored.setdefault((each["client"], each["task"]), []).append(each["time_ms"])
            for process, participant in moment.participants.items():
                self.clients[names[process]] = participant.client_id or ""
            self.owners.append({
                task: names[process]
                for process, (active, _) in moment.placed.items()
                if process in names
                for task in active
            })  # fmt: skip

    def intervals(self, task: str, owner: str | None, first_ms: int, until_ms: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        down: int | None = None if owner is not None else first_ms
        since = first_ms
        for moment, owners in zip(self.moments, self.owners, strict=True):
            now, wanted = moment.time_ms, owners.get(task)
            if owner is not None:
                found += self._restarted(owner, task, since, now)
            ended = None if owner is None else self._ended(owner, since, now)
            if owner is not None and (ended is not None or wanted != owner):
                # Another member gets the task with the next assignment, unless the owner is gone.
                down, owner = (now, None) if ended is None else (ended, wanted)
            elif owner is None:
                owner = wanted
            if owner is not None and down is not None:
                runs = self._runs(owner, task, now, until_ms)
                found.append((down, runs))
                down, since = None, now
        if owner is not None:
            found += self._restarted(owner, task, since, until_ms)
            down = self._ended(owner, since, until_ms)
        found.sort()
        return found if down is None else [*found, (down, until_ms)]

    def _keeps(self, ended_ms: int, start: Happened) -> bool:
        """No decision came between end and start of a static member."""
        return not any(ended_ms < moment.time_ms <= start.time_ms for moment in self.moments)

    def _restarted(self, owner: str, task: str, after_ms: int, until_ms: int) -> Iterator[tuple[int, int]]:
        for ended, back in self.restarts.get(owner, ()):
            if after_ms < ended <= until_ms:
                yield ended, self._runs(owner, task, back, until_ms)

    def _ended(self, owner: str, after_ms: int, until_ms: int) -> int | None:
        return next((each for each in self.ends.get(owner, ()) if after_ms < each <= until_ms), None)

    def _runs(self, owner: str, task: str, at_ms: int, until_ms: int) -> int:
        ended = self._ended(owner, at_ms, until_ms)
        bound = until_ms if ended is None else ended
        restored = self.restored.get((self.clients.get(owner, ""), task), ())
        return max((each for each in restored if at_ms <= each <= bound), default=at_ms)
