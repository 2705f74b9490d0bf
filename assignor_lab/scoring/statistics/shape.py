"""The shape of a sample of differences: how many stand out, to which side, and how unequal they are.

An interval is made of it, and it tells whether there can be one. Values are sorted first and the sum of the mean is
exact, so no order of rows shows in a figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, fsum, sqrt

import attrs
import numpy as np
import numpy.typing as npt

__all__ = ["STANDS_OUT", "Numbers", "Shape", "shape_of"]

Numbers = Sequence[float] | npt.NDArray[np.float64]

#: A value stands out if it is farther from the usual one than this part of the mean distance.
STANDS_OUT = 0.1
#: A value that this part of a sample shares is its usual one, wherever the median lies.
_SHARED = 1 / 3
#: Distances below this part of the largest value are what is left of rounding.
_ROUNDING = 1e-13


@attrs.frozen
class Shape:
    """What a sample looks like; distances are from its usual value: that which a third of it shares, or the median.

    Args:
        number: How many values there are.
        mean: Their mean.
        spread: Their standard deviation, that of the sample; 0 where all are alike.
        skewness: The third moment about the mean, in units of ``spread``.
        lean: The mean less the usual value, in mean distances: 1 where all that differs is above it, -1 below, 0 where
            both sides weigh the same.
        differing: Values that stand out from the usual one.
        inequality: Gini's coefficient of the distances of those: 0 where all are equal, near 1 where one value is
            nearly all of the difference.
        largest_tenth: Share of the largest tenth of them in their sum.
    """

    number: int
    mean: float
    spread: float
    skewness: float
    lean: float
    differing: int
    inequality: float
    largest_tenth: float


def shape_of(values: Numbers) -> Shape:
    """The shape of at least one value."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    number, mean = len(ordered), fsum(ordered.tolist()) / len(ordered)
    usual = _usual(ordered, mean)
    distances = np.sort(np.abs(ordered - usual))
    typical = float(distances.sum()) / number
    if typical <= _ROUNDING * float(np.abs(ordered).max()):
        return Shape(number, mean, 0.0, 0.0, 0.0, 0, 0.0, 0.0)
    # In mean distances, so that no square is too large.
    about = (ordered - mean) / typical
    squares = about * about
    spread = sqrt(float(squares.sum()) / (number - 1))
    standing_out = distances[distances > STANDS_OUT * typical]
    return Shape(
        number=number,
        mean=mean,
        spread=spread * typical,
        skewness=float((squares * about).sum()) / number / spread**3,
        lean=(mean - usual) / typical,
        differing=len(standing_out),
        inequality=_gini(standing_out),
        largest_tenth=float(standing_out[-ceil(len(standing_out) / 10) :].sum() / standing_out.sum()),
    )


def _usual(ordered: npt.NDArray[np.float64], mean: float) -> float:
    """What most values are, if a third of all are; else the median.

    Of two in the middle it is the one away from the mean, which lies where the values are dense.
    """
    number = len(ordered)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    counts = np.diff(starts, append=number)
    most = int(counts.max())
    if most >= _SHARED * number and int((counts == most).sum()) == 1:
        return float(ordered[starts[counts.argmax()]])
    low, high = float(ordered[(number - 1) // 2]), float(ordered[number // 2])
    return low if mean - low >= high - mean else high


def _gini(ordered: npt.NDArray[np.float64]) -> float:
    """Gini's coefficient of positive values, without bias for few of them (half the relative mean difference)."""
    number = len(ordered)
    if number < 2:
        return 0.0
    ranks = np.arange(number) / (number - 1)
    return max(2 * float((ranks * ordered).sum()) / float(ordered.sum()) - 1, 0.0)
