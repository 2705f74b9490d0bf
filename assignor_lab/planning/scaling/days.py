"""A day under a policy: the lag and the instances, with each scaling as the lab's own play of it.

Time goes in steps of an autoscaler's question. A task that is away in a step gains its input; the others share the
rate of their thread.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from math import ceil, inf

import attrs

from assignor_lab.planning.scaling.plays import ScaledGroup, ScalingPlay
from assignor_lab.planning.scaling.policies import SYNC_S, Autoscaler, ScalingPolicy
from assignor_lab.planning.scaling.rates import InputCurve

__all__ = ["TraceCost", "ScalingSteps", "played_day"]

#: A scaling is played in steps for this long at most; then the tasks are placed as in the end.
_LONGEST_S = 3600


@attrs.frozen
class TraceCost:
    """The cost of a day.

    Args:
        lag_seconds: Sum of the lag over time, in records (or bytes) times seconds.
        instance_hours: Sum of the instances over time.
        scalings: How often the count changed.
        away_seconds: Task-seconds without output, of all scalings.
        counts: Count to its hours.
    """

    policy: ScalingPolicy
    lag_seconds: float
    instance_hours: float
    scalings: int
    rebalances: int
    away_seconds: float
    worst_lag: float
    last_lag: float
    counts: Mapping[int, float]


@attrs.frozen
class _Placed:
    """Tasks by thread, and the share of a step in which each runs; ``None``: all of it."""

    threads: tuple[tuple[int, ...], ...]
    runs: tuple[float, ...] | None = None


@attrs.frozen
class _Steps:
    """A scaling from its begin: the placement in each step, and in the end."""

    steps: tuple[_Placed, ...]
    end: _Placed
    rebalances: int
    away_seconds: float


class ScalingSteps:
    """The scalings of a group, each played once and kept.

    Args:
        play: Plays the group through some counts; the last step counts.
    """

    def __init__(self, group: ScaledGroup, play: Callable[[Sequence[int]], ScalingPlay]) -> None:
        self._group, self._play = group, play
        self._known: dict[tuple[int, int], _Steps] = {}
        self._at: dict[int, _Placed] = {}

    def between(self, before: int, after: int) -> _Steps:
        """The scaling from a count to another one."""
        known = self._known.get((before, after))
        if known is None:
            counts = [after] if before == len(self._group.names) else [before, after]
            play = self._play(counts)
            known = self._known[before, after] = _steps(play, self._group.tasks)
            self._at.setdefault(before, _placed(play, self._group.tasks, at_end=False))
        return known

    def at(self, count: int) -> _Placed:
        """The placement of a group that has been at rest with a count."""
        if count not in self._at:
            if count != len(self._group.names):
                self._at[count] = self.between(len(self._group.names), count).end
            else:
                other = count + 1 if count < len(self._group.tasks) or count == 1 else count - 1
                self.between(count, other)
        return self._at[count]

    def throughput(self, count: int, curve: InputCurve, capacity: float) -> float:
        """The largest input in a second with which the busiest thread of a count keeps up."""
        rates = max(curve.rates, key=sum)
        busiest = max((sum(rates[task] for task in tasks) for tasks in self.at(count).threads), default=0.0)
        return capacity * sum(rates) / busiest if busiest else inf

    @property
    def played(self) -> int:
        """Number of pairs that were played."""
        return len(self._known)


def _steps(play: ScalingPlay, tasks: Sequence[str]) -> _Steps:
    changes = [
        edge
        for task in tasks
        for begin, end, _ in play.owned.get(task, ())
        for edge in (begin, end)
        if 0 < edge < _LONGEST_S
    ]
    count = ceil(max(changes, default=0) / SYNC_S)
    return _Steps(
        tuple(_during(play, tasks, place * SYNC_S) for place in range(count)),
        _placed(play, tasks, at_end=True),
        play.cost.steps[-1].rebalances,
        sum(end - begin for away in play.cost.absences.values() for begin, end in away if begin >= play.begin_s - 1),
    )


def _during(play: ScalingPlay, tasks: Sequence[str], begin_s: float) -> _Placed:
    end_s = begin_s + SYNC_S
    held: dict[object, list[int]] = {}
    runs = []
    for number, task in enumerate(tasks):
        longest, owner, ran = 0.0, None, 0.0
        for begin, end, thread in play.owned.get(task, ()):
            both = min(end, end_s) - max(begin, begin_s)
            if both > 0:
                ran += both
                if both > longest:
                    longest, owner = both, thread
        runs.append(min(1.0, ran / SYNC_S))
        if owner is not None:
            held.setdefault(owner, []).append(number)
    threads = tuple(tuple(each) for each in held.values())
    return _Placed(threads, None if all(each > 0.999 for each in runs) else tuple(runs))


def _placed(play: ScalingPlay, tasks: Sequence[str], *, at_end: bool) -> _Placed:
    held: dict[object, list[int]] = {}
    placed = play.placed(at_end=at_end)
    for number, task in enumerate(tasks):
        if task in placed:
            held.setdefault(placed[task], []).append(number)
    return _Placed(tuple(tuple(each) for each in held.values()))


class _Lags:
    """The lags of tasks, step by step."""

    def __init__(self, curve: InputCurve, capacity: float, lags: Sequence[float]) -> None:
        self.curve, self.capacity, self.lags = curve, capacity, list(lags)
        self.total = sum(lags)
        self._fits: dict[tuple[int, int], bool] = {}

    def step(self, placed: _Placed, interval: int) -> float:
        """Goes on by one step; returns the mean lag of it."""
        if self.total == 0 and placed.runs is None:
            key = (id(placed), interval)
            fits = self._fits.get(key)
            if fits is None:
                rates = self.curve.rates[interval]
                on_threads = sum(len(tasks) for tasks in placed.threads) == len(rates)
                fits = self._fits[key] = on_threads and all(
                    sum(rates[task] for task in tasks) <= self.capacity for tasks in placed.threads
                )
            if fits:
                return 0.0
        before = self.total
        self._work(placed, self.curve.rates[interval])
        return (before + self.total) / 2

    def _work(self, placed: _Placed, rates: Sequence[float]) -> None:
        lags, most, runs = self.lags, self.capacity * SYNC_S, placed.runs
        waiting = [lag + rate * SYNC_S for lag, rate in zip(lags, rates, strict=True)]
        for tasks in placed.threads:
            share = 1.0 if runs is None else max(runs[task] for task in tasks)
            able = [waiting[task] * (1.0 if runs is None else runs[task]) for task in tasks]
            together = sum(able)
            served = 1.0 if together <= most * share else most * share / together
            for task, work in zip(tasks, able, strict=True):
                waiting[task] -= work * served
        self.lags = [lag if lag > 1e-6 else 0.0 for lag in waiting]
        self.total = sum(self.lags)


def played_day(
    policy: ScalingPolicy,
    steps: ScalingSteps,
    curve: InputCurve,
    capacity: float,
    lags: Sequence[float],
    present: int,
    commit_s: float,
) -> TraceCost:
    """The cost of a day.

    Args:
        capacity: Input that a thread processes in a second.
        lags: The lag of each task at the beginning.
        present: Instances at the beginning.
        commit_s: Seconds between two commits of offsets: a scaler sees processed records as lag until then.
    """
    until_s = curve.times_s[-1] if curve.until_s is None else curve.until_s
    scaler = Autoscaler(policy, len(curve.tasks))
    queues = _Lags(curve, capacity, lags)
    totals = curve.totals
    count = present
    moving: _Steps | None = None
    placed, at = steps.at(count), 0
    lag_seconds = away = worst = 0.0
    scalings = rebalances = 0
    hours: dict[int, float] = {}
    for number in range(ceil(until_s / SYNC_S)):
        now = number * SYNC_S
        interval = max(0, bisect_right(curve.times_s, now) - 1)
        # Offsets were committed half an interval ago, on average.
        seen = queues.total + totals[interval] * commit_s / 2
        wanted = scaler.count(now, seen, count)
        if wanted != count:
            moving = steps.between(count, wanted)
            count, at, placed = wanted, 0, moving.end
            scalings += 1
            rebalances += moving.rebalances
            away += moving.away_seconds
        here = placed
        if moving is not None:
            if at < len(moving.steps):
                here = moving.steps[at]
                at += 1
            else:
                moving = None
        lag_seconds += queues.step(here, interval) * SYNC_S
        worst = max(worst, queues.total)
        hours[count] = hours.get(count, 0.0) + SYNC_S / 3600
    instance_hours = sum(each * lasted for each, lasted in hours.items())
    return TraceCost(
        policy,
        lag_seconds,
        instance_hours,
        scalings,
        rebalances,
        away,
        worst,
        queues.total,
        dict(sorted(hours.items())),
    )
