"""The lag of a group while its tasks move: queues with a constant input, and threads that work them off.

A thread shares its rate among its tasks as long as they have waiting records: each gets the same share, and a task
without a backlog needs its input alone. Between two events (a task stops or begins to run, the input changes, a queue
is empty) all lags are straight lines, so the result is exact.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import inf

import attrs

from assignor_lab.planning.scaling.rates import InputCurve

__all__ = ["LagCurve", "Ownership", "lag_of"]

#: Task to its runs: begin, end (``inf``: it lasts) and thread, by time.
Ownership = Mapping[str, Sequence[tuple[float, float, Hashable]]]
#: Lags below this many records are none.
_NONE = 1e-6


@attrs.frozen
class LagCurve:
    """The lag of all tasks together: straight lines between points.

    Args:
        times_s: From 0, ascending.
    """

    times_s: tuple[float, ...]
    lags: tuple[float, ...]

    def at(self, time_s: float) -> float:
        place = bisect_right(self.times_s, time_s) - 1
        if place >= len(self.times_s) - 1:
            return self.lags[-1]
        begin, end = self.times_s[place], self.times_s[place + 1]
        share = (time_s - begin) / (end - begin)
        return self.lags[place] + share * (self.lags[place + 1] - self.lags[place])

    @property
    def lag_seconds(self) -> float:
        """Sum of the lag over time: records times seconds."""
        points = list(zip(self.times_s, self.lags, strict=True))
        return sum((end - begin) * (low + high) / 2 for (begin, low), (end, high) in pairwise(points))


class _Queues:
    """Lags of tasks; each thread is brought forward when something changes for it."""

    def __init__(self, curve: InputCurve, capacity: float, lags: Sequence[float]) -> None:
        self.rates, self.capacity, self.lags = list(curve.rates[0]), capacity, list(lags)
        self.owner: list[Hashable | None] = [None] * len(self.lags)
        self.held: dict[Hashable, list[int]] = {}
        self.since: dict[Hashable, float] = {}
        self.away_since = [0.0] * len(self.lags)
        #: Changes of the slope of the common lag.
        self.slopes: list[tuple[float, float]] = []

    def begins(self, task: int, thread: Hashable, now: float) -> None:
        self.forward(thread, now)
        self._wait(task, now)
        self.owner[task] = thread
        self.held.setdefault(thread, []).append(task)

    def ends(self, task: int, now: float) -> None:
        thread = self.owner[task]
        if thread is None:
            return
        self.forward(thread, now)
        self.held[thread].remove(task)
        self.owner[task], self.away_since[task] = None, now

    def changes(self, rates: Sequence[float], now: float) -> None:
        self.all_forward(now)
        self.rates[:] = rates

    def all_forward(self, now: float) -> None:
        for thread in self.held:
            self.forward(thread, now)
        for task, owner in enumerate(self.owner):
            if owner is None:
                self._wait(task, now)

    def _wait(self, task: int, now: float) -> None:
        """Nothing works off the queue of a task that is away."""
        since = self.away_since[task]
        if now > since:
            self.lags[task] += self.rates[task] * (now - since)
            self._sloped(since, now, self.rates[task])
        self.away_since[task] = now

    def _sloped(self, begin: float, end: float, slope: float) -> None:
        if slope:
            self.slopes.append((begin, slope))
            self.slopes.append((end, -slope))

    def forward(self, thread: Hashable, now: float) -> None:
        time = self.since.get(thread, 0.0)
        self.since[thread] = now
        tasks = self.held.get(thread)
        if not tasks:
            return
        while time < now:
            slopes = self._slopes(tasks)
            lasts = now - time
            for task, slope in zip(tasks, slopes, strict=True):
                if slope < 0:
                    lasts = min(lasts, self.lags[task] / -slope)
            for task, slope in zip(tasks, slopes, strict=True):
                lag = self.lags[task] + slope * lasts
                self.lags[task] = lag if lag > _NONE else 0.0
            self._sloped(time, time + lasts, sum(slopes))
            time += lasts
            if lasts <= 0:
                break

    def _slopes(self, tasks: Sequence[int]) -> list[float]:
        """Growth of each queue: the thread's rate, shared equally among what the tasks can take."""
        left, count = self.capacity, len(tasks)
        wants = [inf if self.lags[task] > 0 else self.rates[task] for task in tasks]
        given = [0.0] * count
        for place in sorted(range(count), key=wants.__getitem__):
            given[place] = min(wants[place], left / count)
            left -= given[place]
            count -= 1
        return [self.rates[task] - got for task, got in zip(tasks, given, strict=True)]


def lag_of(owned: Ownership, curve: InputCurve, capacity: float, lags: Sequence[float], until_s: float) -> LagCurve:
    """The lag of a group over time.

    Args:
        owned: The runs of each task.
        capacity: Input that a thread processes in a second, in the unit of the curve.
        lags: The lag of each task at the beginning, in the order of the curve's tasks.
        until_s: End of the result.
    """
    queues = _Queues(curve, capacity, lags)
    # At one time the input changes first, then tasks end, then tasks begin.
    events: list[tuple[float, int, int, Hashable]] = [
        (time, 0, place, None) for place, time in enumerate(curve.times_s) if 0 < time < until_s
    ]
    for task, name in enumerate(curve.tasks):
        for begin, end, thread in owned.get(name, ()):
            if begin < until_s and end > 0 and end > begin:
                events.append((max(0.0, begin), 2, task, thread))
                if end < until_s:
                    events.append((end, 1, task, thread))
    events.sort(key=lambda each: each[:3])
    for time, kind, number, thread in events:
        if kind == 0:
            queues.changes(curve.rates[number], time)
        elif kind == 1:
            if queues.owner[number] == thread:
                queues.ends(number, time)
        else:
            if queues.owner[number] is not None:
                queues.ends(number, time)
            queues.begins(number, thread, time)
    queues.all_forward(until_s)
    return _curve(sum(lags), queues.slopes, until_s)


def _curve(lag: float, slopes: Sequence[tuple[float, float]], until_s: float) -> LagCurve:
    changes: dict[float, float] = {0.0: 0.0}
    for time, slope in slopes:
        changes[time] = changes.get(time, 0.0) + slope
    changes.setdefault(until_s, 0.0)
    times = sorted(changes)
    slope_after = list(accumulate(changes[time] for time in times))
    lags = [lag]
    for place in range(1, len(times)):
        lags.append(max(0.0, lags[-1] + slope_after[place - 1] * (times[place] - times[place - 1])))
    return LagCurve(tuple(times), tuple(lags))
