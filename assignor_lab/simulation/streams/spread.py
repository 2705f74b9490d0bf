"""Durations that are mostly near their median and sometimes many times as long, as those of busy machines are."""

from __future__ import annotations

import math

__all__ = ["spread_around"]

#: No draw is further out than the first and the last hundredth.
_FURTHEST = 0.01


def spread_around(median_ms: int, between_ms: int, drawn: float) -> int:
    """A duration with a median and a distance between its quartiles: a log-logistic one, which has a long end.

    Args:
        median_ms: The median.
        between_ms: From the quarter that is quickest to the quarter that is slowest; 0: it is always the median.
        drawn: From 0 to 1, each alike.
    """
    if not median_ms or not between_ms:
        return median_ms
    ratio = between_ms / median_ms
    # The quartiles are the median times and over this.
    factor = (ratio + math.sqrt(ratio * ratio + 4)) / 2
    share = min(1 - _FURTHEST, max(_FURTHEST, drawn))
    odds: float = share / (1 - share)
    return round(median_ms * math.pow(odds, math.log(factor, 3)))
