"""Means over histories, intervals and effect sizes: by hand, and on simulated data with known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from assignor_lab.model.comparisons import NoInterval
from assignor_lab.scoring.statistics.differences import paired_difference
from assignor_lab.scoring.statistics.intervals import lower_limit, mean_interval, unit_means, upper_limit

HISTORIES, ROUNDS = 40, 8

#: One side alone: 40 histories in 100 differ by 3.
RARE = [0.0] * 60 + [3.0] * 40
#: Both sides, but the larger ones on one.
SKEWED = [float(step**2 - 20) for step in range(50)]


def ends(values: list[float], level: float = 0.95) -> tuple[float, float]:
    """The interval of values that have one."""
    found = mean_interval(values, level)
    assert not isinstance(found, NoInterval)
    return found


def test_each_history_counts_alike_however_many_rounds_it_has() -> None:
    found = paired_difference([3.0, 5.0, 1.0], [1.0, 1.0, 1.0], [7, 7, 9])
    assert (found.units, found.states) == (2, 3)
    assert (found.mean, found.baseline_mean, found.difference) == (2.5, 1.0, 1.5)
    assert (found.lower, found.equal, found.higher) == (0, 1, 1)


def test_without_skewness_the_interval_is_students_around_the_means_of_the_histories() -> None:
    values = [float(value) for value in range(41)]
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert mean_interval(values, 0.9) == pytest.approx((expected.low, expected.high))
    above = stats.ttest_1samp(values, 0, alternative="greater").confidence_interval(0.95)
    below = stats.ttest_1samp(values, 0, alternative="less").confidence_interval(0.95)
    assert lower_limit(values, 0.95) == pytest.approx(above.low)
    assert upper_limit(values, 0.95) == pytest.approx(below.high)


def test_the_interval_reaches_further_to_the_side_of_the_rare_large_differences() -> None:
    low, high = ends(SKEWED)
    assert 0 < float(np.mean(SKEWED)) - low < high - float(np.mean(SKEWED))
    assert ends([-value for value in SKEWED]) == pytest.approx((-high, -low))


def test_the_limit_on_the_side_of_the_rare_differences_is_halls_and_the_other_one_students() -> None:
    number, mean = len(RARE), float(np.mean(RARE))
    spread, skewness = float(np.std(RARE, ddof=1)), float(np.mean((np.asarray(RARE) - mean) ** 3))
    skewness /= spread**3
    student = float(stats.t.ppf(0.95, number - 1))

    def halls(quantile: float) -> float:
        bent = 1 + skewness / number**0.5 * (quantile - skewness / (6 * number**0.5))
        return 3 * float(number**0.5) / skewness * (float(np.cbrt(bent)) - 1)

    error = spread / number**0.5
    assert upper_limit(RARE, 0.95) == pytest.approx(mean - error * halls(-student))
    assert lower_limit(RARE, 0.95) == pytest.approx(mean - error * student)
    # All differences are on one side, so both ends of the interval are Hall's.
    assert ends(RARE, 0.9) == pytest.approx((mean - error * halls(student), mean - error * halls(-student)))


def test_a_nearly_too_uneven_difference_has_a_longer_interval() -> None:
    def upper_reach(values: list[float]) -> float:
        error = float(stats.sem(values))
        return (ends(values)[1] - float(np.mean(values))) / error

    even, uneven = ([0.0] * 60 + [float(base**step) for step in range(5)] * 8 for base in (1.1, 2.0))
    assert upper_reach(even) < 2.5 < upper_reach(uneven)


def test_one_history_has_no_interval() -> None:
    found = paired_difference([1.0] * 8, [0.0] * 8, [3] * 8)
    assert (found.difference, found.low, found.high, found.effect) == (1.0, None, None, None)
    assert found.no_interval is not None
    assert found.no_interval.reason == "1 history is too few: 30 must differ; about 41 histories would do"


def test_nothing_to_compare() -> None:
    found = paired_difference([], [], [])
    assert (found.units, found.states, found.mean, found.difference, found.low) == (0, 0, None, None, None)
    assert found.no_interval is None


def test_an_assignor_against_itself_differs_nowhere() -> None:
    values = [0.1, 0.2, 0.7, 1e9]
    found = paired_difference(values, values, [0, 0, 1, 2])
    assert (found.difference, found.low, found.high, found.effect, found.equal) == (0.0, None, None, 0.0, 3)
    assert found.no_interval is not None
    assert (found.no_interval.code, found.no_interval.enough) == ("same", None)
    assert found.no_interval.reason.startswith("all 3 histories are alike")


def test_the_effect_is_in_standard_deviations_of_the_differences() -> None:
    found = paired_difference([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [0, 1, 2])
    hedges = 1 - 3 / (4 * 2 - 1)
    assert found.effect == pytest.approx(2.0 / 1.0 * hedges)
    assert paired_difference([1.0, 1.0], [0.0, 0.0], [0, 1]).effect is None


def test_the_order_of_the_rows_shows_in_no_bit() -> None:
    generator = np.random.default_rng(5)
    values, units = generator.lognormal(size=500), np.arange(500)
    order = generator.permutation(500)
    first, second = (paired_difference(values[at], values[at] * 0.9, units[at]) for at in (units, order))
    assert first.low is not None
    assert (first.difference, first.low, first.high, first.effect) == (
        second.difference,
        second.low,
        second.high,
        second.effect,
    )


def test_values_that_are_not_paired_are_refused() -> None:
    with pytest.raises(ValueError, match="2 values, 1 of the baseline, 2 units"):
        paired_difference([1.0, 2.0], [1.0], [0, 1])


def simulated(generator: np.random.Generator, truth: float) -> tuple[list[float], list[float], list[int]]:
    """Rounds of histories: events are shared, an assignor's habit lasts for a history, the rest is noise."""
    units = np.repeat(np.arange(HISTORIES), ROUNDS)
    shared = generator.gamma(2.0, 3.0, HISTORIES)[units] + generator.normal(0, 2.0, units.size)
    habit = generator.normal(0, 1.0, HISTORIES)[units]
    own = shared + truth + habit + generator.normal(0, 0.5, units.size)
    other = shared + generator.normal(0, 0.5, units.size)
    return own.tolist(), other.tolist(), units.tolist()


def coverage(seed: int, *, by_round: bool) -> float:
    generator = np.random.default_rng(seed)
    covered, truth, runs = 0, 0.4, 1_000
    for _ in range(runs):
        own, other, units = simulated(generator, truth)
        found = paired_difference(own, other, list(range(len(own))) if by_round else units)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
    return covered / runs


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_intervals_of_95_percent_cover_the_truth_in_93_to_97_percent_of_1000_runs(seed: int) -> None:
    assert 0.93 <= coverage(seed, by_round=False) <= 0.97


@pytest.mark.slow
def test_rounds_as_units_would_not_cover_it() -> None:
    assert coverage(1, by_round=True) < 0.75


def test_a_one_sided_limit_is_crossed_as_often_as_it_says() -> None:
    generator = np.random.default_rng(11)
    runs = 1_000
    crossed = 0
    for _ in range(runs):
        own, other, units = simulated(generator, 0.0)
        limit = lower_limit(unit_means(np.subtract(own, other), units), 0.95)
        assert not isinstance(limit, NoInterval)
        crossed += limit > 0
    assert math.isclose(crossed / runs, 0.05, abs_tol=0.02)
