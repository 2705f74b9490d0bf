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

__all__ = ["LagCurve", "Ownership", "Queues", "lag_of"]

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


class Queues:
    """Lags of tasks, from one change to the next.

    Args:
        capacity: Input that a thread processes in a second, in the unit of the curve.
        lags: The lag of each task at the beginning, in the order of the curve's tasks.
        slopes: Receives each change of the slope of the common lag, with its time.

    Attributes:
        lag: The common lag.
        lag_seconds: Sum of the common lag over time: records times seconds.
        worst_lag: Largest common lag at a change.
    """

    def __init__(
        self,
        curve: InputCurve,
        capacity: float,
        lags: Sequence[float],
        slopes: list[tuple[float, float]] | None = None,
    ) -> None:
        self.lags = list(lags)
        self.lag = self.worst_lag = sum(lags)
        self.lag_seconds = 0.0
        self._curve, self._interval, self._capacity, self._slopes = curve, 0, capacity, slopes
        self._rates = curve.rates[0]
        self._numbers = {task: number for number, task in enumerate(curve.tasks)}
        self._now = 0.0
        #: Time, begin (not end), task and thread, the next one last.
        self._moves: list[tuple[float, bool, int, Hashable]] = []
        self._owner: list[Hashable | None] = [None] * len(self.lags)
        self._away = set(range(len(self.lags)))
        self._held: dict[Hashable, list[int]] = {}
        #: Threads that keep up and whose tasks have no lag: nothing waits there until the next change.
        self._rested: set[Hashable] = set()

    def follow(self, owned: Ownership) -> None:
        """From now on tasks run as in ``owned``, whose times count from now."""
        for task in range(len(self.lags)):
            self._ends(task)
        moves: list[tuple[float, bool, int, Hashable]] = []
        for name, runs in owned.items():
            task = self._numbers[name]
            for begin, end, thread in runs:
                if end > max(begin, 0.0):
                    moves.append((self._now + max(begin, 0.0), True, task, thread))
                    moves.append((self._now + end, False, task, thread))
        # At one time tasks end, then tasks begin.
        self._moves = sorted(moves, key=lambda move: move[:3], reverse=True)

    def run(self, until_s: float) -> None:
        """Brings all lags forward; what happens at ``until_s`` itself is left for the next call."""
        times, moves = self._curve.times_s, self._moves
        while True:
            change = times[self._interval + 1] if self._interval + 1 < len(times) else inf
            move = moves[-1][0] if moves else inf
            now = min(change, move)
            if now >= until_s:
                break
            self._forward(now)
            if change <= move:
                self._interval += 1
                self._rates = self._curve.rates[self._interval]
                self._rested.clear()
                continue
            _, begins, task, thread = moves.pop()
            if begins:
                self._ends(task)
                self._owner[task] = thread
                self._away.discard(task)
                self._held.setdefault(thread, []).append(task)
                self._rested.discard(thread)
            elif self._owner[task] == thread:
                self._ends(task)
        self._forward(until_s)

    def _ends(self, task: int) -> None:
        thread = self._owner[task]
        if thread is not None:
            self._held[thread].remove(task)
            if not self._held[thread]:
                del self._held[thread]
                self._rested.discard(thread)
            self._owner[task] = None
            self._away.add(task)

    def _forward(self, now: float) -> None:
        if now > self._now and (self._away or len(self._rested) < len(self._held)):
            for thread, tasks in self._held.items():
                if thread not in self._rested and not self._work(tasks, now):
                    self._rested.add(thread)
            # Nothing works off the queue of a task that is away.
            for task in sorted(self._away):
                self._grow(task, self._rates[task], now - self._now)
                self._sloped(self._now, now, self._rates[task])
            self.lag = sum(self.lags)
            self.worst_lag = max(self.worst_lag, self.lag)
        self._now = now

    def _grow(self, task: int, slope: float, lasts: float) -> None:
        before = self.lags[task]
        after = before + slope * lasts
        self.lags[task] = after = after if after > _NONE else 0.0
        self.lag_seconds += (before + after) / 2 * lasts

    def _sloped(self, begin: float, end: float, slope: float) -> None:
        if slope and self._slopes is not None:
            self._slopes += ((begin, slope), (end, -slope))

    def _work(self, tasks: Sequence[int], now: float) -> bool:
        """What a thread does; false if there is no lag, and none comes."""
        lags, time = self.lags, self._now
        while time < now:
            slopes = self._slopes_of(tasks)
            if slopes is None:
                return False
            lasts = now - time
            for task, slope in zip(tasks, slopes, strict=True):
                if slope < 0 and lags[task] < -slope * lasts:
                    lasts = lags[task] / -slope
            for task, slope in zip(tasks, slopes, strict=True):
                self._grow(task, slope, lasts)
            self._sloped(time, time + lasts, sum(slopes))
            time += lasts
            if lasts <= 0:
                break
        return True

    def _slopes_of(self, tasks: Sequence[int]) -> list[float] | None:
        """Growth of each queue: the thread's rate, shared equally among what the tasks can take.

        ``None``: no queue has a lag or gets one.
        """
        lags, rates, left, count = self.lags, self._rates, self._capacity, len(tasks)
        waiting = sum([lags[task] > 0 for task in tasks])
        if waiting == count:
            return [rates[task] - left / count for task in tasks]
        if not waiting and sum([rates[task] for task in tasks]) <= left:
            return None
        wants = [inf if lags[task] > 0 else rates[task] for task in tasks]
        given = [0.0] * count
        for place in sorted(range(count), key=wants.__getitem__):
            given[place] = min(wants[place], left / count)
            left -= given[place]
            count -= 1
        return [rates[task] - got for task, got in zip(tasks, given, strict=True)]


def lag_of(owned: Ownership, curve: InputCurve, capacity: float, lags: Sequence[float], until_s: float) -> LagCurve:
    """The lag of a group over time; arguments as of :class:`Queues`.

    Args:
        owned: The runs of each task.
        until_s: End of the result.
    """
    slopes: list[tuple[float, float]] = []
    queues = Queues(curve, capacity, lags, slopes)
    queues.follow(owned)
    queues.run(until_s)
    return _curve(sum(lags), slopes, until_s)


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
