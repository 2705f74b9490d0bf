"""Means over histories, and their confidence intervals.

The unit is the history (or the single state), never the round. The rounds of a history depend on each other; as
independent units they would make every interval too narrow. Each unit has one value, the mean of its rounds, and the
interval is around the mean of these values.

Differences of assignors are 0 in most histories and large in a few. Student's interval then misses the truth two or
three times as often as it promises. On the side of the tail, this module uses Hall's transformation where it reaches
further (P. Hall, "On the removal of skewness by transformation", 1992), stretched if the differences are nearly too
uneven. On the other side it uses a value between Student's and Hall's, nearer to Hall's if all differences are on one
side, because Hall's alone is too narrow if both tails are heavy. Without skewness the result is Student's.

A sample that does not allow an interval has a reason instead (:mod:`assignor_lab.scoring.statistics.refusal`).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy import special

from assignor_lab.model.comparisons import NoInterval
from assignor_lab.scoring.statistics.refusal import (
    Numbers,
    Shape,
    largest_inequality,
    refusal,
    shape_of,
)
from assignor_lab.scoring.statistics.sums import exact_sum

__all__ = [
    "Numbers",
    "interval_of",
    "lower_limit",
    "mean_interval",
    "mean_of",
    "chance_of_zero",
    "one_sided_limits",
    "stable",
    "unit_means",
    "upper_limit",
]

#: Digits that are equal on all machines; the last digits of Student's quantiles depend on the build of scipy.
DIGITS = 12
#: Smaller probabilities are as good as this one.
_LEAST_ERROR = 1e-9
#: Smaller skewness changes no kept digit.
_NO_SKEWNESS = 1e-9


def unit_means(values: Numbers, units: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The mean of each unit, in the order of the units' numbers."""
    numbers = np.asarray(units, dtype=np.int64)
    if bool((numbers[1:] >= numbers[:-1]).all()):  # already in order, as from a table
        position = np.concatenate(([0], np.cumsum(numbers[1:] != numbers[:-1])))[: len(numbers)]
    else:
        position = np.unique(numbers, return_inverse=True)[1]
    sums = np.bincount(position, weights=np.asarray(values, dtype=np.float64))
    return np.asarray(sums / np.bincount(position), dtype=np.float64)


def mean_of(values: Numbers) -> float | None:
    return exact_sum(np.asarray(values, dtype=np.float64)) / len(values) if len(values) else None


def mean_interval(values: Numbers, level: float) -> tuple[float, float] | NoInterval:
    """Two-sided confidence interval of the mean, or the reason of a missing one."""
    return interval_of(shape_of(values), level)


def interval_of(shape: Shape, level: float) -> tuple[float, float] | NoInterval:
    refused = refusal(shape)
    return _limits(shape, (1 + level) / 2, abs(shape.lean)) if refused is None else refused


def chance_of_zero(shape: Shape) -> float | None:
    """The smallest error level at which :func:`interval_of` excludes 0; ``None`` without an interval."""
    if refusal(shape) is not None:
        return None

    def excludes(error: float) -> bool:
        low, high = _limits(shape, 1 - error / 2, abs(shape.lean))
        return low > 0 or high < 0

    least, most = _LEAST_ERROR, 1.0
    if excludes(least):
        return least
    while most > least * (1 + 1e-6):
        middle = sqrt(least * most)
        least, most = (least, middle) if excludes(middle) else (middle, most)
    return most


def lower_limit(values: Numbers, level: float) -> float | NoInterval:
    """One-sided lower limit of the mean with confidence ``level``; or the reason of a missing one."""
    found = one_sided_limits(shape_of(values), level)
    return found if isinstance(found, NoInterval) else found[0]


def upper_limit(values: Numbers, level: float) -> float | NoInterval:
    """One-sided upper limit of the mean with confidence ``level``; or the reason of a missing one."""
    found = one_sided_limits(shape_of(values), level)
    return found if isinstance(found, NoInterval) else found[1]


def one_sided_limits(shape: Shape, level: float) -> tuple[float, float] | NoInterval:
    """:func:`lower_limit` and :func:`upper_limit` of a sample of this shape."""
    refused = refusal(shape)
    # The short side stays Student's. Samples with just enough differing histories are those with many of them, and the
    # limit away from the tail would miss too often, because it has no other side to compensate.
    return _limits(shape, level, 0.0) if refused is None else refused


def _limits(shape: Shape, quantile: float, one_sided: float) -> tuple[float, float]:
    """The limits below and above the mean; the true mean is beyond each with probability 1 - ``quantile``.

    Args:
        shape: Shape of a sample that allows an interval.
        quantile: Confidence of either side.
        one_sided: Position of the short side between Student's quantile (0) and Hall's (1).
    """
    student = float(special.stdtrit(shape.number - 1, quantile))
    side = 1.0 if (shape.lean or shape.skewness) >= 0 else -1.0
    tail = max(student, _halls(student, -side * shape.skewness, shape.number)) * _stretch(shape)
    short = _halls(student, side * shape.skewness, shape.number)
    short = max(short, one_sided * short + (1 - one_sided) * student)
    error = shape.spread / sqrt(shape.number)
    below, above = (short, tail) if side > 0 else (tail, short)
    return stable(shape.mean - error * below), stable(shape.mean + error * above)


def _halls(student: float, skewness: float, number: int) -> float:
    """Distance of the limit below the mean in standard errors, for this skewness: Hall's transformation."""
    if abs(skewness) < _NO_SKEWNESS:
        return student
    root = sqrt(number)
    bent = 1 + skewness / root * (student - skewness / (6 * root))
    return 3 * root / skewness * (float(np.cbrt(bent)) - 1)


def _stretch(shape: Shape) -> float:
    margin = (largest_inequality(shape.differing) - shape.inequality) * sqrt(shape.differing)
    return 1 + min(max(1 - margin, 0.0), 1.0)


def stable(figure: float) -> float:
    """``figure`` without the digits that differ between machines."""
    return float(f"{figure:.{DIGITS}g}")
