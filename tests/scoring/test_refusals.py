"""Conditions for an interval of a sample, and the statement if they are not met."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignor_lab.model.comparisons import NoInterval
from assignor_lab.scoring.statistics.intervals import mean_interval
from assignor_lab.scoring.statistics.refusal import (
    FEWEST,
    largest_inequality,
    least_alike,
    refusal,
    shape_of,
)


def reason_of(values: list[float]) -> NoInterval:
    found = refusal(shape_of(values))
    assert found is not None
    return found


def test_the_shape_of_a_small_sample_by_hand() -> None:
    # Distances from the median 0 are 0, 0, 0, 1, 3, 4; their mean is 8/6. Gini of 1, 3, 4: 2 (0 + 1.5 + 4) / 8 - 1.
    shape = shape_of([0.0, 3.0, 0.0, 1.0, 4.0, 0.0])
    assert (shape.number, shape.mean, shape.differing) == (6, 8 / 6, 3)
    assert (shape.lean, shape.inequality, shape.largest_tenth) == pytest.approx((1.0, 0.375, 0.5))
    assert shape.spread == pytest.approx(np.std([0, 3, 0, 1, 4, 0], ddof=1))


@given(
    st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, -3.0, 8.0]), min_size=1, max_size=80),
    st.sampled_from([-1.0, 1.0]),
    st.sampled_from([1.0, 0.25, 2.0**40]),
)
def test_the_unit_and_the_side_change_no_decision(values: list[float], side: float, unit: float) -> None:
    first, second = (mean_interval(of, 0.95) for of in (values, [side * unit * value for value in values]))
    if isinstance(first, NoInterval) or isinstance(second, NoInterval):
        assert first == second
    else:
        low, high = (side * unit * end for end in first)
        assert second == pytest.approx((min(low, high), max(low, high)), rel=1e-9, abs=1e-9 * unit)


def test_what_is_left_of_rounding_is_no_difference() -> None:
    values = [0.1 + 0.2, 0.3] * 100
    assert shape_of(values).differing == 0
    assert reason_of(values).code == "same"


@pytest.mark.parametrize("size", [1e-300, 1e150, 1e300])
def test_very_small_and_very_large_differences_have_intervals(size: float) -> None:
    found = mean_interval([size * step for step in range(60)], 0.95)
    assert not isinstance(found, NoInterval)
    assert found[0] < 29.5 * size < found[1]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([1.0], "1 history is too few: 30 must differ; about 41 histories would do"),
        ([0.0, 1.0, 3.0], "3 histories are too few: 30 must differ; about 62 histories would do"),
        (
            [0.0] * 96 + [1.0] * 4,
            "4 of 100 histories differ noticeably: 30 must; about 1,100 histories would do",
        ),
        ([2.0] * 500, "all 500 histories are alike, so the rarity of another one is unknown"),
        ([0.0] * 300 + [1.0], "1 of 301 histories differ noticeably: 30 must; about 13,000 histories would do"),
    ],
)
def test_the_reason_is_a_sentence_with_the_number_of_histories_that_would_do(values: list[float], reason: str) -> None:
    assert reason_of(values).reason == reason


def test_one_differing_history_in_ten_that_is_most_of_the_difference_is_no_ground_for_an_interval() -> None:
    found = reason_of([0.0] * 60 + [1.0] * 36 + [30.0] * 4)
    # Gini: 2 (630 + 30 * 150) / (39 * 156) - 1 is 0.686, twice (0.72 / 0.314) ** (1 / 0.15) differing histories is 506.
    assert (found.code, found.enough) == ("uneven", 1_300)
    assert found.reason.startswith("a tenth of the 40 histories that differ make up 77% of the difference: rarer and")
    assert found.reason.endswith("; about 1,300 histories would do")


def test_more_than_a_million_histories_are_not_named() -> None:
    found = reason_of([0.0] * 100_000 + [1.0])
    assert (found.code, found.enough) == ("few", None)
    assert found.reason.endswith("; not even 1,000,000 histories would do")


def test_the_named_number_would_do_for_a_sample_of_the_same_shape() -> None:
    values = [0.0] * 90 + [1.0, 2.0, 3.0, 4.0]
    enough = reason_of(values).enough
    assert enough is not None
    assert refusal(shape_of(values * (enough // len(values) + 1))) is None
    assert refusal(shape_of(values * (FEWEST // 4))) is not None


def test_the_more_histories_differ_the_more_uneven_they_may_be() -> None:
    limits = [largest_inequality(differing) for differing in (30, 100, 1_000, 100_000)]
    assert limits == sorted(limits)
    assert 0.5 < limits[0] < limits[-1] < 1


@pytest.mark.parametrize(("confidence", "histories"), [(0.8, 32), (0.95, 59), (0.99, 90)])
def test_so_many_alike_leave_one_in_twenty_that_is_not(confidence: float, histories: int) -> None:
    assert least_alike(confidence) == histories
    assert 0.95**histories <= 1 - confidence < 0.95 ** (histories - 1)
