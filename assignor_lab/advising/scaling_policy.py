"""The policy of an autoscaler for a group: candidates on a day like the given one, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

import attrs

from assignor_lab.documents.wording import listed, plural
from assignor_lab.planning.making import PlanError
from assignor_lab.planning.scaling.days import TraceCost
from assignor_lab.planning.scaling.policies import ScalingPolicy, constant_policy, kedas_default
from assignor_lab.planning.scaling.rates import InputCurve
from assignor_lab.planning.scaling.traces import LIKE_SIZES, like_day

__all__ = ["PolicyAdvice", "advised_policy"]

_DOWN_S = (600, 1800, 3600)
_SHARES = (0.4, 0.6, 0.75, 0.9)
#: A choice has at most this share of KEDA's lag-seconds on each day: other days differ.
_MARGIN = 0.9


@attrs.frozen
class PolicyAdvice:
    """The choice.

    Args:
        chosen: The policy, on the given day.
        keda: KEDA's default on that day.
        constants: Constant counts on that day.
        tried: Number of candidates.
        lag_share: Lag-seconds as a share of those of KEDA's default, on the worst of the days.
        hours_share: The same of instance-hours.
    """

    chosen: TraceCost
    keda: TraceCost
    constants: tuple[TraceCost, ...]
    tried: int
    days: int
    lag_share: float
    hours_share: float

    @property
    def sentence(self) -> str:
        """The policy, and its worst day."""
        policy = self.chosen.policy
        what = (
            f"Run {plural(policy.counts[0], 'replica')} all day"
            if policy.is_constant
            else f"Scale among {listed([str(count) for count in policy.counts])} replicas, with a lag of "
            f"{policy.lag_per_replica:,.0f} for each, and remove one after {policy.down_s} s"
        )
        return (
            f"{what}: on the worst of {plural(self.days, 'similar day')} it has {self.lag_share:.0%} of the "
            f"lag-seconds and {self.hours_share:.0%} of the instance-hours of KEDA's default."
        )


def advised_policy(
    counts: Sequence[int],
    curve: InputCurve,
    throughput: Callable[[int], float],
    commit_s: float,
    play: Callable[[ScalingPolicy, InputCurve], TraceCost],
    seed: int = 0,
) -> PolicyAdvice:
    """The policy with the fewest instance-hours among those with less lag than KEDA's default on all days.

    Args:
        counts: Counts that are worth it, ascending.
        throughput: Largest input in a second that the busiest thread of a count allows.
        commit_s: Seconds between two commits: a scaler sees the input of half of it as lag.
        play: The cost of a day.

    Raises:
        PlanError: if there is one count only.
    """
    if len(counts) < 2:
        raise PlanError("--to has one count that is worth it: an autoscaler has nothing to choose")
    days = [curve, *(like_day(curve, f"{seed}-{number}", size) for number, size in enumerate(LIKE_SIZES))]
    keda = kedas_default(counts)
    usual = [play(keda, day) for day in days]
    constants = [constant_policy(count) for count in counts]
    candidates = _candidates(tuple(counts), [throughput(count) for count in counts], commit_s)
    on_given = {policy: play(policy, curve) for policy in [*candidates, *constants]}

    def judged(policy: ScalingPolicy, most: tuple[bool, float]) -> tuple[float, float] | None:
        """The worst shares of KEDA's lag and hours; ``None`` once a day ranks the policy behind ``most``."""
        lag = hours = 0.0
        for number, (day, kedas) in enumerate(zip(days, usual, strict=True)):
            own = play(policy, day) if number else on_given[policy]
            lag = max(lag, _share(own.lag_seconds, kedas.lag_seconds, max(day.totals)))
            hours = max(hours, _share(own.instance_hours, kedas.instance_hours, 0.0))
            if _rank(lag, hours) > most:
                return None
        return lag, hours

    chosen, worst = constants[-1], (inf, inf)
    # The largest constant is never far behind KEDA's default. Then the cheapest ones: few others see many days.
    for policy in [*reversed(constants), *sorted(candidates, key=lambda each: on_given[each].instance_hours)]:
        found = judged(policy, _rank(*worst))
        if found is not None and _rank(*found) < _rank(*worst):
            chosen, worst = policy, found
    always = tuple(on_given[each] for each in constants)
    return PolicyAdvice(on_given[chosen], usual[0], always, len(candidates), len(days), *worst)


def _rank(lag: float, hours: float) -> tuple[bool, float]:
    """Fewest hours, if the lag is clearly less than KEDA's; otherwise the smaller of both excesses.

    A further day never makes it less.
    """
    is_better = lag <= _MARGIN and hours <= 1
    return (not is_better, hours if is_better else max(lag, hours))


def _share(value: float, usual: float, least: float) -> float:
    """A cost against KEDA's; lags below a second of the input are equal."""
    return (value + least) / (usual + least) if usual + least else 1.0


def _candidates(counts: tuple[int, ...], throughputs: Sequence[float], commit_s: float) -> list[ScalingPolicy]:
    found = []
    seen_s = max(commit_s / 2, 1.0)
    for least in range(len(counts)):
        for most in range(least, len(counts)):
            allowed = counts[least : most + 1]
            if len(allowed) == 1 or (most < len(counts) - 1 and least):
                continue
            # The busiest thread, not the mean one, falls behind: an instance has the least share of any count below.
            each = min(of_count / count for count, of_count in zip(allowed[:-1], throughputs[least:most], strict=True))
            for share in _SHARES:
                # The lag that a scaler sees of an instance with this share of its work.
                lag = max(1.0, round(each * share * seen_s))
                for down in _DOWN_S:
                    name = f"lag={lag:g},down={down},up=0,counts={'/'.join(map(str, allowed))}"
                    found.append(ScalingPolicy(name, allowed, lag, down))
    return found
