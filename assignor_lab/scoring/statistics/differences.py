"""Paired differences of two assignors in one metric: how large, how sure, and in how many histories."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from assignor_lab.scoring.statistics.intervals import Numbers, deviation, mean_interval, mean_of, stable, unit_means

__all__ = ["LEVEL", "Difference", "paired_difference"]

#: Confidence of the intervals in the summary.
LEVEL = 0.95


@attrs.frozen
class Difference:
    """What an assignor differs by from the baseline in one metric, over the states in which both have a figure.

    Args:
        units: Histories (or single states) that were compared.
        states: States in them.
        mean: Mean of the assignor, each unit counting alike; ``None`` without a unit.
        baseline_mean: The baseline's.
        difference: ``mean`` less ``baseline_mean``.
        low: Lower end of the confidence interval of the difference; ``None`` for fewer than two units.
        high: Its upper end.
        level: Its confidence.
        effect: The difference in standard deviations of the units' differences (Cohen's d for pairs, with Hedges'
            correction for few units): 0.2 is small, 0.8 large. 0 where nothing differs; ``None`` where it is unknown,
            or all units differ by the very same amount.
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
    effect: float | None
    lower: int
    equal: int
    higher: int
    unit_differences: npt.NDArray[np.float64] = attrs.field(eq=False, repr=False)


def paired_difference(
    values: Numbers,
    baseline: Numbers,
    units: Sequence[int] | npt.NDArray[np.int64],
    level: float = LEVEL,
) -> Difference:
    """Compares two assignors state by state.

    Args:
        values: The assignor's figure in each state; no NaN.
        baseline: The baseline's in the same state.
        units: Number of the history that the state belongs to; for single states their own.
        level: Confidence of the interval.

    Raises:
        ValueError: if the three are not of one length.
    """
    if not len(values) == len(baseline) == len(units):
        raise ValueError(f"{len(values)} values, {len(baseline)} of the baseline, {len(units)} units: not paired")
    own, other = np.asarray(values, dtype=np.float64), np.asarray(baseline, dtype=np.float64)
    differences = unit_means(own - other, units) if len(own) else np.zeros(0)
    interval = mean_interval(differences, level)
    return Difference(
        units=len(differences),
        states=len(own),
        mean=mean_of(unit_means(own, units)) if len(own) else None,
        baseline_mean=mean_of(unit_means(other, units)) if len(own) else None,
        difference=mean_of(differences),
        low=None if interval is None else interval[0],
        high=None if interval is None else interval[1],
        level=level,
        effect=_effect(differences),
        lower=int(np.count_nonzero(differences < 0)),
        equal=int(np.count_nonzero(differences == 0)),
        higher=int(np.count_nonzero(differences > 0)),
        unit_differences=differences,
    )


def _effect(differences: npt.NDArray[np.float64]) -> float | None:
    spread, mean = deviation(differences), mean_of(differences)
    if spread is None or mean is None:
        return None
    if spread == 0:
        return 0.0 if mean == 0 else None
    # Hedges: few values make an effect look larger than it is.
    correction = 1 - 3 / (4 * (len(differences) - 1) - 1)
    return stable(mean / spread * correction)
