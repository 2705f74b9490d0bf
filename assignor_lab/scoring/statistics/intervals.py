"""Means over histories, and how sure one can be of them.

The unit is the history (or the single state), never the round: the rounds of a history follow from one another, and
counting them as independent makes every interval too narrow. Each unit has one value, the mean of its rounds, and
the interval is put around the mean of these values. Sums are exact, so no order of rows shows in a figure.

The interval spans Student's and the one that Hall's transformation corrects for skewness (P. Hall, "On the removal of
skewness by transformation", 1992). Differences of assignors are 0 in most histories and large in a few, and Student's
own interval then misses the truth two or three times as often as it says; Hall's does so where the tails are heavy on
both sides. Without skewness the two are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

import numpy as np
import numpy.typing as npt
from scipy import special

__all__ = [
    "Numbers",
    "deviation",
    "limits",
    "lower_limit",
    "mean_interval",
    "mean_of",
    "stable",
    "unit_means",
    "upper_limit",
]

Numbers = Sequence[float] | npt.NDArray[np.float64]

#: Digits that every machine agrees on; the last ones of a quantile of Student's t depend on the build of scipy.
DIGITS = 12
#: Below this, skewness changes no digit that is kept.
_NO_SKEWNESS = 1e-9


def unit_means(values: Numbers, units: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The mean of each unit, in the order of the units' numbers.

    Args:
        values: One value for each state.
        units: The unit (history) that each state belongs to, of the same length.
    """
    _, position = np.unique(np.asarray(units, dtype=np.int64), return_inverse=True)
    sums = np.bincount(position, weights=np.asarray(values, dtype=np.float64))
    return np.asarray(sums / np.bincount(position), dtype=np.float64)


def mean_of(values: Numbers) -> float | None:
    """The mean; ``None`` of nothing."""
    return fsum(values) / len(values) if len(values) else None


def deviation(values: Numbers) -> float | None:
    """Standard deviation of the sample; ``None`` for fewer than two values."""
    if len(values) < 2:
        return None
    mean = fsum(values) / len(values)
    return sqrt(fsum((float(value) - mean) ** 2 for value in values) / (len(values) - 1))


def mean_interval(values: Numbers, level: float) -> tuple[float, float] | None:
    """Two-sided confidence interval of the mean.

    Args:
        values: One value for each unit.
        level: Between 0 and 1, such as 0.95.

    Returns:
        Both ends; ``None`` for fewer than two values. Values that are all equal have an interval without width.
    """
    return _limits_of(values, (1 + level) / 2)


def lower_limit(values: Numbers, level: float) -> float | None:
    """One-sided limit: the mean is above it with confidence ``level``; ``None`` for fewer than two values."""
    found = _limits_of(values, level)
    return None if found is None else found[0]


def upper_limit(values: Numbers, level: float) -> float | None:
    """One-sided limit: the mean is below it with confidence ``level``; ``None`` for fewer than two values."""
    found = _limits_of(values, level)
    return None if found is None else found[1]


def _limits_of(values: Numbers, quantile: float) -> tuple[float, float] | None:
    spread, mean = deviation(values), mean_of(values)
    if spread is None or mean is None:
        return None
    cubes = fsum((float(value) - mean) ** 3 for value in values) / len(values)
    return limits(len(values), mean, spread, cubes, quantile)


def limits(number: int, mean: float, spread: float, cubes: float, quantile: float) -> tuple[float, float]:
    """The limits below and above the mean, each of which the true mean is beyond with chance 1 - ``quantile``.

    Args:
        number: How many values there are, at least two.
        mean: Their mean.
        spread: Their standard deviation, that of the sample.
        cubes: Mean of their cubed distances from the mean.
        quantile: Confidence of either side.
    """
    if spread == 0:
        return stable(mean), stable(mean)
    student = float(special.stdtrit(number - 1, quantile))
    skewness = cubes / spread**3
    error = spread / sqrt(number)
    below = max(student, _without_skewness(student, skewness, number))
    above = min(-student, _without_skewness(-student, skewness, number))
    return stable(mean - error * below), stable(mean - error * above)


def _without_skewness(student: float, skewness: float, number: int) -> float:
    """Where Student's quantile lies once the skewness of the values is taken into account: Hall's transformation."""
    if abs(skewness) < _NO_SKEWNESS:
        return student
    root = sqrt(number)
    bent = 1 + skewness / root * (student - skewness / (6 * root))
    return 3 * root / skewness * (float(np.cbrt(bent)) - 1)


def stable(figure: float) -> float:
    """``figure`` without the digits in which machines differ."""
    return float(f"{figure:.{DIGITS}g}")
