"""Sums without rounding, as ``math.fsum`` has them, of as many figures as there are."""

from __future__ import annotations

from itertools import chain
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["exact_sum"]

#: Whole numbers up to here are exact, and so are sums that stay below.
_WHOLE = 2.0**53
#: Figures that are Python's own at a time.
_PIECE = 65_536


def exact_sum(values: npt.NDArray[Any]) -> float:
    """The sum of figures, correctly rounded whatever their order."""
    if not len(values):
        return 0.0
    with np.errstate(over="ignore"):
        size = float(np.abs(values).sum())
    if size < _WHOLE and bool((values == np.floor(values)).all()):
        return float(values.sum()) + 0.0
    return fsum(chain.from_iterable(values[start : start + _PIECE].tolist() for start in range(0, len(values), _PIECE)))
