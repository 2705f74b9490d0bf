"""A day under a policy: the lag and the instances, with each scaling as the lab's own play of it.

An autoscaler asks in fixed steps; between them the lag is exact (:mod:`assignor_lab.planning.scaling.queues`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from math import ceil, inf

import attrs

from assignor_lab.planning.scaling.plays import ScaledGroup, ScalingPlay, Thread
from assignor_lab.planning.scaling.policies import SYNC_S, Autoscaler, ScalingPolicy
from assignor_lab.planning.scaling.queues import Ownership, Queues
from assignor_lab.planning.scaling.rates import InputCurve

__all__ = ["TraceCost", "ScalingSteps", "played_day"]


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
class _Scaling:
    """A scaling from its begin.

    Args:
        owned: The runs of each task.
        before: Task to its thread at the begin; ``after``: in the end.
    """

    owned: Ownership
    before: Mapping[str, Thread]
    after: Mapping[str, Thread]
    rebalances: int
    away_seconds: float


class ScalingSteps:
    """The scalings of a group, each played once and kept.

    Args:
        play: Plays the group through some counts; the last step counts.
    """

    def __init__(self, group: ScaledGroup, play: Callable[[Sequence[int]], ScalingPlay]) -> None:
        self._group, self._play = group, play
        self._known: dict[tuple[int, int], _Scaling] = {}

    def between(self, before: int, after: int) -> _Scaling:
        """The scaling from a count to another one."""
        known = self._known.get((before, after))
        if known is None:
            counts = [after] if before == len(self._group.names) else [before, after]
            known = self._known[before, after] = _scaling(self._play(counts))
        return known

    def at(self, count: int) -> Mapping[str, Thread]:
        """Task to its thread in a group that has been at rest with a count."""
        present = len(self._group.names)
        if count != present:
            return self.between(present, count).after
        other = count + 1 if count < len(self._group.tasks) or count == 1 else count - 1
        return self.between(count, other).before

    def throughput(self, count: int, curve: InputCurve, capacity: float) -> float:
        """The largest input in a second with which the busiest thread of a count keeps up."""
        rates = dict(zip(curve.tasks, max(curve.rates, key=sum), strict=True))
        loads: dict[Thread, float] = {}
        for task, thread in self.at(count).items():
            loads[thread] = loads.get(thread, 0.0) + rates[task]
        busiest = max(loads.values(), default=0.0)
        return capacity * sum(rates.values()) / busiest if busiest else inf

    @property
    def played(self) -> int:
        """Number of pairs that were played."""
        return len(self._known)


def _scaling(play: ScalingPlay) -> _Scaling:
    return _Scaling(
        play.owned,
        play.placed(at_end=False),
        play.placed(at_end=True),
        play.cost.steps[-1].rebalances,
        sum(end - begin for away in play.cost.absences.values() for begin, end in away if begin >= play.begin_s - 1),
    )


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
    queues = Queues(curve, capacity, lags)
    queues.follow({task: [(0.0, inf, thread)] for task, thread in steps.at(present).items()})
    totals = curve.totals
    count = present
    away = 0.0
    scalings = rebalances = 0
    hours: dict[int, float] = {}
    for number in range(ceil(until_s / SYNC_S)):
        now = number * SYNC_S
        interval = max(0, bisect_right(curve.times_s, now) - 1)
        # Offsets were committed half an interval ago, on average.
        wanted = scaler.count(now, queues.lag + totals[interval] * commit_s / 2, count)
        if wanted != count:
            scaling = steps.between(count, wanted)
            queues.follow(scaling.owned)
            count = wanted
            scalings += 1
            rebalances += scaling.rebalances
            away += scaling.away_seconds
        queues.run(now + SYNC_S)
        hours[count] = hours.get(count, 0.0) + SYNC_S / 3600
    instance_hours = sum(each * lasted for each, lasted in hours.items())
    return TraceCost(
        policy,
        queues.lag_seconds,
        instance_hours,
        scalings,
        rebalances,
        away,
        queues.worst_lag,
        queues.lag,
        dict(sorted(hours.items())),
    )
