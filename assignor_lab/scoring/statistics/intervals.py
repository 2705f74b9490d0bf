"""Means over histories, and how sure one can be of them.

The unit is the history (or the single state), never the round: the rounds of a history follow from one another, and
counting them as independent makes every interval too narrow. Each unit has one value, the mean of its rounds, and
the interval is put around the mean of these values.

Differences of assignors are 0 in most histories and large in a few, and Student's interval then misses the truth two or
three times as often as it says. On the side of the tail ours takes Hall's transformation where that reaches further
(P. Hall, "On the removal of skewness by transformation", 1992), and is stretched where the differences are nearly too
uneven for an interval. On the other side it lies between Student's and Hall's, the nearer to Hall's the more all that
differs is on one side: Hall's alone is too narrow where tails are heavy on both. Without skewness it is Student's.

Where the sample does not bear an interval there is a reason in its place
(:mod:`assignor_lab.scoring.statistics.refusal`).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy import special

from assignor_lab.scoring.statistics.refusal import NoInterval, largest_inequality, refusal
from assignor_lab.scoring.statistics.shape import Numbers, Shape, shape_of
from assignor_lab.scoring.statistics.sums import exact_sum

__all__ = [
    "Numbers",
    "interval_of",
    "lower_limit",
    "mean_interval",
    "mean_of",
    "one_sided_limits",
    "stable",
    "unit_means",
    "upper_limit",
]

#: Digits that every machine agrees on; the last ones of a quantile of Student's t depend on the build of scipy.
DIGITS = 12
#: Below this, skewness changes no digit that is kept.
_NO_SKEWNESS = 1e-9


def unit_means(values: Numbers, units: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The mean of each unit, in the order of the units' numbers.

    Args:
        values: One value for each state.
        units: The unit (history) that each state belongs to, of the same length.
    """
    numbers = np.asarray(units, dtype=np.int64)
    if bool((numbers[1:] >= numbers[:-1]).all()):  # as they come of a table
        position = np.concatenate(([0], np.cumsum(numbers[1:] != numbers[:-1])))[: len(numbers)]
    else:
        position = np.unique(numbers, return_inverse=True)[1]
    sums = np.bincount(position, weights=np.asarray(values, dtype=np.float64))
    return np.asarray(sums / np.bincount(position), dtype=np.float64)


def mean_of(values: Numbers) -> float | None:
    """The mean; ``None`` of nothing."""
    return exact_sum(np.asarray(values, dtype=np.float64)) / len(values) if len(values) else None


def mean_interval(values: Numbers, level: float) -> tuple[float, float] | NoInterval:
    """Two-sided confidence interval of the mean, or why there is none.

    Args:
        values: One value for each unit, at least one.
        level: Between 0 and 1, such as 0.95.
    """
    return interval_of(shape_of(values), level)


def interval_of(shape: Shape, level: float) -> tuple[float, float] | NoInterval:
    """As :func:`mean_interval`, for a sample of this shape."""
    refused = refusal(shape)
    return _limits(shape, (1 + level) / 2, abs(shape.lean)) if refused is None else refused


def lower_limit(values: Numbers, level: float) -> float | NoInterval:
    """One-sided limit: the mean is above it with confidence ``level``; or why there is none."""
    found = one_sided_limits(shape_of(values), level)
    return found if isinstance(found, NoInterval) else found[0]


def upper_limit(values: Numbers, level: float) -> float | NoInterval:
    """One-sided limit: the mean is below it with confidence ``level``; or why there is none."""
    found = one_sided_limits(shape_of(values), level)
    return found if isinstance(found, NoInterval) else found[1]


def one_sided_limits(shape: Shape, level: float) -> tuple[float, float] | NoInterval:
    """:func:`lower_limit` and :func:`upper_limit` of a sample of this shape."""
    refused = refusal(shape)
    # The short side stays Student's: samples that just have enough differing histories are those with many of them,
    # and the limit away from the tail, which has nothing on its other side to make up for it, would miss too often.
    return _limits(shape, level, 0.0) if refused is None else refused


def _limits(shape: Shape, quantile: float, one_sided: float) -> tuple[float, float]:
    """The limits below and above the mean, each of which the true mean is beyond with chance 1 - ``quantile``.

    Args:
        shape: Of a sample that bears an interval.
        quantile: Confidence of either side.
        one_sided: How far the short side goes from Student's quantile, at 0, to Hall's, at 1.
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
    """How many standard errors the limit lies below the mean of values of this skewness: Hall's transformation."""
    if abs(skewness) < _NO_SKEWNESS:
        return student
    root = sqrt(number)
    bent = 1 + skewness / root * (student - skewness / (6 * root))
    return 3 * root / skewness * (float(np.cbrt(bent)) - 1)


def _stretch(shape: Shape) -> float:
    """From 1 to 2: the nearer the sample is to having no interval, in standard errors of its inequality or about so."""
    margin = (largest_inequality(shape.differing) - shape.inequality) * sqrt(shape.differing)
    return 1 + min(max(1 - margin, 0.0), 1.0)


def stable(figure: float) -> float:
    """``figure`` without the digits in which machines differ."""
    return float(f"{figure:.{DIGITS}g}")
