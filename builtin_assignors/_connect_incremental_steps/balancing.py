"""Surplus of each member, and the pause between rounds that revoke it (3.5, 3.6)."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["backoff", "surplus", "upper_bounds"]

_MULTIPLIER = 40


def surplus(sizes: Sequence[int], total: int) -> list[int]:
    """Number of jobs that each member must give up, so that ``total`` jobs can be spread evenly.

    Every member ends with ``total // n`` jobs or one more. The first members that hold more than the lower number keep
    the extra one. The sum does not depend on the order.
    """
    low, extra = divmod(total, len(sizes))
    if sizes.count(low + 1) == extra and sizes.count(low) + extra == len(sizes):
        return [0] * len(sizes)
    given_up = []
    for size in sizes:
        bound = low
        if size > low and extra > 0:
            bound, extra = low + 1, extra - 1
        given_up.append(max(0, size - bound))
    return given_up


def upper_bounds(sizes: Sequence[int], total: int, takers: Sequence[int]) -> list[int]:
    """Number of jobs that each of ``takers`` may hold before :func:`surplus` takes any away."""
    low, extra = divmod(total, len(sizes))
    free = extra - sum(size > low for size in sizes)
    bounds = []
    for member in takers:
        bound = low
        if sizes[member] <= low and free > 0:
            bound, free = low + 1, free - 1
        bounds.append(max(bound, sizes[member]))
    return bounds


def backoff(successive: int, max_delay: int) -> int:
    """Pause in ms after ``successive`` rounds in a row that revoked surplus.

    1, 40, 1600, ... times the initial interval of 1 ms (0 if ``max_delay`` is 0), up to ``max_delay``. Kafka's
    ``ExponentialBackoff`` without jitter, in double arithmetic: a power can be one less than the exact integer.
    """
    initial = 0 if max_delay == 0 else 1
    if max_delay <= initial:
        return initial
    exponent = min(successive, math.log(max_delay / max(initial, 1)) / math.log(_MULTIPLIER))
    return min(int(initial * math.pow(_MULTIPLIER, exponent)), max_delay)
