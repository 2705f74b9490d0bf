"""Durations near their median, sometimes many times as long, as on busy machines."""

from __future__ import annotations

import math

__all__ = ["spread_around"]

#: Draws stay between the first and the last percentile.
_FURTHEST = 0.01


def spread_around(median_ms: int, between_ms: int, drawn: float) -> int:
    """A duration by median and interquartile range, from a long-tailed log-logistic distribution.

    Args:
        drawn: From 0 to 1, uniformly distributed.
    """
    if not median_ms or not between_ms:
        return median_ms
    ratio = between_ms / median_ms
    # The quartiles are the median times and over this.
    factor = (ratio + math.sqrt(ratio * ratio + 4)) / 2
    share = min(1 - _FURTHEST, max(_FURTHEST, drawn))
    odds: float = share / (1 - share)
    return round(median_ms * math.pow(odds, math.log(factor, 3)))
