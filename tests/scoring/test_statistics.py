"""Means over histories, intervals and effect sizes: by hand, and on simulated data whose truth is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from assignor_lab.scoring.statistics.differences import paired_difference
from assignor_lab.scoring.statistics.intervals import lower_limit, mean_interval, unit_means, upper_limit

HISTORIES, ROUNDS = 40, 8


def test_each_history_counts_alike_however_many_rounds_it_has() -> None:
    found = paired_difference([3.0, 5.0, 1.0], [1.0, 1.0, 1.0], [7, 7, 9])
    assert (found.units, found.states) == (2, 3)
    assert (found.mean, found.baseline_mean, found.difference) == (2.5, 1.0, 1.5)
    assert (found.lower, found.equal, found.higher) == (0, 1, 1)


def test_without_skewness_the_interval_is_students_around_the_means_of_the_histories() -> None:
    values = [0.0, 1.0, 2.0, 3.0]
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert mean_interval(values, 0.9) == pytest.approx((expected.low, expected.high))
    above = stats.ttest_1samp(values, 0, alternative="greater").confidence_interval(0.95)
    below = stats.ttest_1samp(values, 0, alternative="less").confidence_interval(0.95)
    assert lower_limit(values, 0.95) == pytest.approx(above.low)
    assert upper_limit(values, 0.95) == pytest.approx(below.high)


def test_the_interval_reaches_further_to_the_side_of_the_rare_large_differences() -> None:
    values = [0.0] * 9 + [10.0]
    low, high = mean_interval(values, 0.95) or (0.0, 0.0)
    assert 0 < 1.0 - low < high - 1.0
    mirrored = mean_interval([-value for value in values], 0.95)
    assert mirrored == pytest.approx((-high, -low))


def test_the_limit_on_the_side_of_the_rare_differences_is_halls_and_the_other_one_students() -> None:
    values = [0.0, 0.0, 3.0]
    root, spread, skewness = 3**0.5, 3**0.5, 2.0 / 3**1.5
    student = float(stats.t.ppf(0.95, 2))
    bent = 1 + skewness / root * (-student - skewness / (6 * root))
    hall = 3 * root / skewness * (float(np.cbrt(bent)) - 1)
    assert upper_limit(values, 0.95) == pytest.approx(1.0 - spread / root * hall)
    assert lower_limit(values, 0.95) == pytest.approx(1.0 - spread / root * student)


def test_one_history_has_no_interval() -> None:
    found = paired_difference([1.0] * 8, [0.0] * 8, [3] * 8)
    assert (found.difference, found.low, found.high, found.effect) == (1.0, None, None, None)


def test_nothing_to_compare() -> None:
    found = paired_difference([], [], [])
    assert (found.units, found.states, found.mean, found.difference, found.low) == (0, 0, None, None, None)


def test_an_assignor_against_itself_differs_nowhere() -> None:
    values = [0.1, 0.2, 0.7, 1e9]
    found = paired_difference(values, values, [0, 0, 1, 2])
    assert (found.difference, found.low, found.high, found.effect, found.equal) == (0.0, 0.0, 0.0, 0.0, 3)


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
    """Rounds of histories: what happens is shared, an assignor's habit lasts for a history, the rest is noise."""
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


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_intervals_of_95_percent_cover_the_truth_in_93_to_97_percent_of_1000_runs(seed: int) -> None:
    assert 0.93 <= coverage(seed, by_round=False) <= 0.97


@pytest.mark.parametrize(
    "shape",
    [
        # Skewed: most histories differ little, some much.
        lambda generator: generator.exponential(1.0, HISTORIES) - 0.6,
        # Tied: seven histories in ten do not differ at all.
        lambda generator: np.where(generator.random(HISTORIES) < 0.7, 0.0, generator.geometric(0.4, HISTORIES)) - 0.35,
        # Counts on both sides.
        lambda generator: generator.poisson(1.2, HISTORIES) - generator.poisson(0.8, HISTORIES),
        # Tied on both sides, and heavy tails on both sides.
        lambda generator: generator.choice([-1.0, 0.0, 1.0], p=[0.1, 0.8, 0.1], size=HISTORIES) + 0.4,
        lambda generator: generator.standard_t(3, HISTORIES) + 0.4,
    ],
    ids=["skewed", "tied", "counts", "tied-both-ways", "heavy-tails"],
)
def test_skewed_and_tied_differences_are_covered_as_often(shape: Callable[[np.random.Generator], Any]) -> None:
    generator = np.random.default_rng(20_240_608)
    covered, truth, runs = 0, 0.4, 1_000
    for _ in range(runs):
        units = np.repeat(np.arange(HISTORIES), 2)
        own = shape(generator)[units] + np.tile([0.5, -0.5], HISTORIES)
        found = paired_difference(own, np.zeros(len(units)), units)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
    assert 0.93 <= covered / runs <= 0.97


def test_rounds_as_units_would_not_cover_it() -> None:
    assert coverage(1, by_round=True) < 0.75


def test_a_one_sided_limit_is_crossed_as_often_as_it_says() -> None:
    generator = np.random.default_rng(11)
    runs = 1_000
    crossed = 0
    for _ in range(runs):
        own, other, units = simulated(generator, 0.0)
        limit = lower_limit(unit_means(np.subtract(own, other), units), 0.95)
        assert limit is not None
        crossed += limit > 0
    assert math.isclose(crossed / runs, 0.05, abs_tol=0.02)
