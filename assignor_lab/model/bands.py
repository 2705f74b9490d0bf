"""The 90 % band of some plays."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["band"]

#: Share of the plays that a band holds.
_HELD = 0.9


def band(values: Sequence[float]) -> tuple[float, float]:
    """Lowest and highest value of the band; of fewer than 39 plays, of all of them.

    Of n plays, a further one lies outside of the k-th from either end in 2 k of n + 1 cases.
    """
    ordered = sorted(values)
    out = max(0, math.floor((len(ordered) + 1) * (1 - _HELD) / 2) - 1)
    return ordered[out], ordered[-1 - out]
