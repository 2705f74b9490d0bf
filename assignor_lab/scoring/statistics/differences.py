"""Paired differences of two assignors in one metric: size, certainty, and number of histories."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from assignor_lab.model.comparisons import NoInterval
from assignor_lab.scoring.statistics.intervals import (
    Numbers,
    chance_of_zero,
    interval_of,
    mean_of,
    stable,
    unit_means,
)
from assignor_lab.scoring.statistics.refusal import Shape, shape_of
from assignor_lab.scoring.statistics.signs import sign_probability

__all__ = ["LEVEL", "PairedDifference", "paired_difference"]

#: Confidence of the intervals in the summary.
LEVEL = 0.95


@attrs.frozen
class PairedDifference:
    """The difference of an assignor from the baseline in one metric, over the states in which both have a figure.

    Args:
        no_interval: Reason of a missing interval; ``None`` if there is one, or no unit.
        effect: The difference in standard deviations of the units' differences (Cohen's d for pairs, with Hedges'
            correction for few units): 0.2 is small, 0.8 large. 0 without any difference; ``None`` if it is unknown, or
            if all units differ by the same amount.
        lower: Units in which the assignor's figure is lower than the baseline's.
        equal: Units in which they are equal.
        higher: Units in which it is higher.
        unit_differences: The difference of each unit, in the order of the units' numbers.
    """

    units: int
    states: int
    mean: float | None
    baseline_mean: float | None
    difference: float | None
    low: float | None
    high: float | None
    level: float
    no_interval: NoInterval | None
    effect: float | None
    lower: int
    equal: int
    higher: int
    unit_differences: npt.NDArray[np.float64] = attrs.field(eq=False, repr=False)

    def chance(self) -> float | None:
        """Probability of such a difference between equal assignors; ``None`` if nothing can be concluded.

        If all histories differ by one amount, the sign test has it.
        """
        if self.no_interval is not None and self.no_interval.code == "same" and self.lower + self.higher:
            return sign_probability(self.lower, self.higher)
        return chance_of_zero(shape_of(self.unit_differences)) if self.no_interval is None and self.units else None


def paired_difference(
    values: Numbers,
    baseline: Numbers,
    units: Sequence[int] | npt.NDArray[np.int64],
    level: float = LEVEL,
) -> PairedDifference:
    """Compares two assignors state by state.

    Args:
        units: Number of the state's history; single states have their own.

    Raises:
        ValueError: if the lengths of the three differ.
    """
    if not len(values) == len(baseline) == len(units):
        raise ValueError(f"{len(values)} values, {len(baseline)} of the baseline, {len(units)} units: not paired")
    own, other = np.asarray(values, dtype=np.float64), np.asarray(baseline, dtype=np.float64)
    differences = unit_means(own - other, units) if len(own) else np.zeros(0)
    shape = shape_of(differences) if len(differences) else None
    low, high, no_interval = _interval(shape, level)
    return PairedDifference(
        units=len(differences),
        states=len(own),
        mean=mean_of(unit_means(own, units)) if len(own) else None,
        baseline_mean=mean_of(unit_means(other, units)) if len(own) else None,
        difference=mean_of(differences),
        low=low,
        high=high,
        level=level,
        no_interval=no_interval,
        effect=None if shape is None else _effect(shape),
        lower=int(np.count_nonzero(differences < 0)),
        equal=int(np.count_nonzero(differences == 0)),
        higher=int(np.count_nonzero(differences > 0)),
        unit_differences=differences,
    )


def _interval(shape: Shape | None, level: float) -> tuple[float | None, float | None, NoInterval | None]:
    found = None if shape is None else interval_of(shape, level)
    if found is None or isinstance(found, NoInterval):
        return None, None, found
    return *found, None


def _effect(shape: Shape) -> float | None:
    if shape.number < 2:
        return None
    if shape.spread == 0:
        return 0.0 if shape.mean == 0 else None
    # Hedges: with few values an effect looks too large.
    correction = 1 - 3 / (4 * (shape.number - 1) - 1)
    return stable(shape.mean / shape.spread * correction)
