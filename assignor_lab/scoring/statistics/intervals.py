"""Means over histories, and how sure one can be of them.

The unit is the history (or the single state), never the round: the rounds of a history follow from one another, and
counting them as independent makes every interval too narrow. Each unit has one value, the mean of its rounds, and
Student's t is put around the mean of these values. Sums are exact, so no order of rows shows in a figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

import numpy as np
import numpy.typing as npt
from scipy import special

__all__ = ["Numbers", "deviation", "lower_limit", "mean_interval", "mean_of", "stable", "unit_means", "upper_limit"]

Numbers = Sequence[float] | npt.NDArray[np.float64]

#: Digits that every machine agrees on; the last ones of a quantile of Student's t depend on the build of scipy.
DIGITS = 12


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
    half = _half_width(values, (1 + level) / 2)
    mean = mean_of(values)
    return None if half is None or mean is None else (stable(mean - half), stable(mean + half))


def lower_limit(values: Numbers, level: float) -> float | None:
    """One-sided limit: the mean is above it with confidence ``level``; ``None`` for fewer than two values."""
    half = _half_width(values, level)
    mean = mean_of(values)
    return None if half is None or mean is None else stable(mean - half)


def upper_limit(values: Numbers, level: float) -> float | None:
    """One-sided limit: the mean is below it with confidence ``level``; ``None`` for fewer than two values."""
    half = _half_width(values, level)
    mean = mean_of(values)
    return None if half is None or mean is None else stable(mean + half)


def _half_width(values: Numbers, quantile: float) -> float | None:
    spread = deviation(values)
    if spread is None:
        return None
    return float(special.stdtrit(len(values) - 1, quantile)) * spread / sqrt(len(values))


def stable(figure: float) -> float:
    """``figure`` without the digits in which machines differ."""
    return float(f"{figure:.{DIGITS}g}")
