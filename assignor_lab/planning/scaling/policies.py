"""Autoscalers: policies on the lag, and KEDA's default, with the rules of a Horizontal Pod Autoscaler (HPA).

KEDA's Kafka scaler reports the group's lag, capped at the partitions times the threshold. The HPA asks every 15 s and
wants the lag over the threshold, rounded up. It leaves the count alone within 10 % of the target, at most doubles it
or adds four in 15 s, and takes the largest wish of the last 300 s before it removes an instance.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from math import ceil

import attrs

from assignor_lab.planning.making import PlanError

__all__ = ["SYNC_S", "Autoscaler", "ScalingPolicy", "constant_policy", "kedas_default", "parse_policy"]

#: ``--horizontal-pod-autoscaler-sync-period``, in seconds.
SYNC_S = 15
#: Longest ``stabilizationWindowSeconds``.
LONGEST_S = 3600
_TOLERANCE = 0.1
_THRESHOLD, _DOWN_S = 10.0, 300
_MOST_ADDED = 4
_POLICY = re.compile(
    r"\Alag=([0-9]{1,12}(?:\.[0-9]{1,3})?)"
    r"(?:,down=([0-9]{1,4}))?(?:,up=([0-9]{1,4}))?(?:,counts=([0-9]{1,6}(?:/[0-9]{1,6})*))?",
    re.ASCII,
)


@attrs.frozen
class ScalingPolicy:
    """A policy.

    Args:
        counts: The counts that it may choose, ascending.
        lag_per_replica: The smallest count with at most this lag for each instance is wanted.
        down_s: An instance is removed only if no larger count was wanted in this time.
        up_s: An instance is added only if no smaller count was wanted in this time.
        is_stepped: Wishes are rounded up to the next of ``counts``; otherwise all counts between are allowed.
    """

    name: str
    counts: tuple[int, ...]
    lag_per_replica: float
    down_s: int = _DOWN_S
    up_s: int = 0
    is_stepped: bool = True

    @property
    def is_constant(self) -> bool:
        return len(self.counts) == 1

    def wanted(self, lag: float, present: int, partitions: int) -> int:
        """The count that the HPA computes from a lag, before its windows and limits."""
        capped = min(lag, partitions * self.lag_per_replica)
        value = capped / self.lag_per_replica
        if self.is_stepped:
            value = float(next((count for count in self.counts if count >= value - 1e-9), self.counts[-1]))
        wish = present if abs(value / present - 1) <= _TOLERANCE else ceil(value - 1e-9)
        return min(max(wish, self.counts[0]), self.counts[-1])


def kedas_default(counts: Sequence[int]) -> ScalingPolicy:
    """KEDA without any setting but the smallest and largest count: ``lagThreshold`` 10."""
    return ScalingPolicy("KEDA's default", (min(counts), max(counts)), _THRESHOLD, is_stepped=False)


def constant_policy(count: int) -> ScalingPolicy:
    return ScalingPolicy(f"always {count}", (count,), 1.0)


def parse_policy(text: str, counts: Sequence[int]) -> ScalingPolicy:
    """A policy such as ``lag=5000,down=900,up=60,counts=3/6/12``.

    Args:
        counts: The counts without ``counts=``, and the bounds of those.

    Raises:
        PlanError: if it is in another form, or a count is none of the table.
    """
    found = _POLICY.fullmatch(text.replace(" ", ""))
    lag, given_down, given_up, given_counts = ("0", None, None, None) if found is None else found.groups()
    if not float(lag):
        raise PlanError(
            f"--policy {text!r:.80}: write lag=RECORDS,down=S,up=S,counts=A/B, where lag is the most of one instance"
        )
    down, up = int(given_down or _DOWN_S), int(given_up or 0)
    if max(down, up) > LONGEST_S:
        raise PlanError(f"--policy {text!r:.80}: an autoscaler looks back {LONGEST_S} s at most")
    chosen = tuple(sorted({int(each) for each in given_counts.split("/")})) if given_counts else tuple(counts)
    other = next((each for each in chosen if each not in counts), None)
    if other is not None:
        raise PlanError(f"--policy {text!r:.80}: {other} is no count of --to")
    return ScalingPolicy(text, chosen, float(lag), down, up)


class Autoscaler:
    """The state of one policy: the wishes of its windows.

    Args:
        partitions: Partitions of the group, which bound the lag that KEDA reports.
    """

    def __init__(self, policy: ScalingPolicy, partitions: int) -> None:
        self._policy, self._partitions = policy, partitions
        #: Wishes that may still be the largest, or the smallest, of a window.
        self._largest: deque[tuple[float, int]] = deque()
        self._smallest: deque[tuple[float, int]] = deque()

    def count(self, now_s: float, lag: float, present: int) -> int:
        """The count from now on."""
        policy = self._policy
        if policy.is_constant:
            return policy.counts[0]
        wish = policy.wanted(lag, present, self._partitions)
        largest, smallest = self._largest, self._smallest
        while largest and largest[-1][1] <= wish:
            largest.pop()
        largest.append((now_s, wish))
        while largest[0][0] < now_s - policy.down_s:
            largest.popleft()
        while smallest and smallest[-1][1] >= wish:
            smallest.pop()
        smallest.append((now_s, wish))
        while smallest[0][0] < now_s - policy.up_s:
            smallest.popleft()
        if wish > present:
            least = smallest[0][1]
            if least <= present:
                return present
            # The manifest of a policy with chosen counts allows any step; otherwise counts between would be played.
            return least if policy.is_stepped else min(least, max(2 * present, present + _MOST_ADDED))
        return min(present, largest[0][1])
