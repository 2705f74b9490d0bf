"""The lag of moving tasks, computed by hand."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignor_lab.planning.scaling.queues import lag_of
from assignor_lab.planning.scaling.rates import RECORDS, InputCurve, constant_input

HERE, THERE = ("a", 0), ("b", 0)


def test_a_task_that_is_away_gains_its_input_and_loses_the_rest_of_the_thread() -> None:
    curve = constant_input({"0": 100.0}, ["0"], RECORDS, "")
    # Away from 10 to 20 s: 1000 records, which 150 of 250 a second work off by 26.67 s.
    found = lag_of({"0": [(0, 10, HERE), (20, inf, THERE)]}, curve, 250.0, [0.0], 60.0)
    assert found.at(20) == pytest.approx(1000)
    assert found.at(23) == pytest.approx(1000 - 3 * 150)
    assert found.at(26.7) == pytest.approx(0, abs=1e-6)
    assert found.lag_seconds == pytest.approx(1000 * 10 / 2 + 1000 * (1000 / 150) / 2)


def test_a_thread_shares_its_rate_and_the_input_of_an_empty_queue_comes_first() -> None:
    curve = constant_input({"0": 10.0, "1": 90.0}, ["0", "1"], RECORDS, "")
    # 0 needs 10 of 60; 1 gets 50 of its 90: 40 more wait each second.
    found = lag_of({"0": [(0, inf, HERE)], "1": [(0, inf, HERE)]}, curve, 60.0, [0.0, 0.0], 10.0)
    assert found.at(10) == pytest.approx(400)


def test_the_input_changes_at_the_times_of_the_curve() -> None:
    curve = InputCurve(("0",), (0.0, 10.0), ((200.0,), (0.0,)), RECORDS, "", 60.0)
    found = lag_of({"0": [(0, inf, HERE)]}, curve, 100.0, [0.0], 60.0)
    assert found.at(10) == pytest.approx(1000)
    assert found.at(20) == pytest.approx(0, abs=1e-6)


def test_two_runs_at_one_time_end_the_first_one() -> None:
    curve = constant_input({"0": 100.0}, ["0"], RECORDS, "")
    found = lag_of({"0": [(0, inf, HERE), (5, inf, THERE)]}, curve, 50.0, [0.0], 10.0)
    assert found.at(10) == pytest.approx(500)


@given(
    rates=st.lists(st.floats(0, 500), min_size=1, max_size=6),
    lags=st.lists(st.floats(0, 5000), min_size=6, max_size=6),
    capacity=st.floats(1, 800),
    cuts=st.lists(st.floats(0.1, 99), max_size=4, unique=True),
)
def test_steps_of_a_hundredth_of_a_second_come_to_the_same_lag(
    rates: list[float], lags: list[float], capacity: float, cuts: list[float]
) -> None:
    tasks = [str(place) for place in range(len(rates))]
    times = [0.0, *sorted(cuts), 100.0]
    owned = {
        task: [
            (begin, end, (HERE, THERE, None)[(place + number) % 3])
            for place, (begin, end) in enumerate(pairwise(times))
            if (place + number) % 3 != 2
        ]
        for number, task in enumerate(tasks)
    }
    curve = constant_input(dict(zip(tasks, rates, strict=True)), tasks, RECORDS, "")
    found = lag_of(owned, curve, capacity, lags[: len(tasks)], 100.0)
    total = sum(lags[: len(tasks)])
    # No more than all input, and no less than both threads can leave.
    assert -1e-6 <= found.lags[-1] <= total + 100 * sum(rates) + 1e-3
    assert found.lags[-1] >= total + 100 * (sum(rates) - 2 * capacity) - 1e-3
