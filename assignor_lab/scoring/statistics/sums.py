"""Exact sums, as of ``math.fsum``, of any number of figures."""

from __future__ import annotations

from itertools import chain
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["exact_sum"]

#: Whole numbers up to here are exact, and so are smaller sums.
_WHOLE = 2.0**53
#: Figures that are converted to Python objects at a time.
_PIECE = 65_536


def exact_sum(values: npt.NDArray[Any]) -> float:
    """The sum of figures, correctly rounded in any order."""
    if not len(values):
        return 0.0
    with np.errstate(over="ignore"):
        size = float(np.abs(values).sum())
    if size < _WHOLE and bool((values == np.floor(values)).all()):
        return float(values.sum()) + 0.0
    return fsum(chain.from_iterable(values[start : start + _PIECE].tolist() for start in range(0, len(values), _PIECE)))
