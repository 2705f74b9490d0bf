"""Verdicts of the table of replica counts, with hand-made lags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

from assignor_lab.planning.measured import PlayedPlan, StepCost
from assignor_lab.planning.scaling.plays import ScalingPlay, Thread
from assignor_lab.planning.scaling.rates import RECORDS, Capacity, constant_input
from assignor_lab.planning.scaling.table import Forecast, ScalingTable, scaling_table
from assignor_lab.planning.scaling.words import the_sentences

TASKS = ("0_0", "0_1", "0_2", "0_3")
COST = StepCost(0.0, 0.0, 0, 1, 0.0, {})
GROUP: Any = SimpleNamespace(
    unit="instance", task="task", thread="thread", names=("a", "b"), tasks=TASKS, threads=2, remedy="more partitions"
)


def play(owners: Mapping[str, Sequence[str]], threads: int) -> ScalingPlay:
    """At first two threads have two tasks each; after 5 s tasks are on the threads of these instances."""
    before = {"0_0": "a", "0_1": "a", "0_2": "b", "0_3": "b"}
    after = {task: name for name, tasks in owners.items() for task in tasks}
    owned: dict[str, list[tuple[float, float, Thread]]] = {
        task: [(-10.0, 5.0, (before[task], 1)), (5.0, inf, (after[task], 1))] for task in TASKS
    }
    return ScalingPlay(PlayedPlan((COST,), COST, (0.0,), 5.0, 5.0, {}, None), 0.0, owned, threads)


def table(lag: Sequence[float]) -> ScalingTable:
    plays = {
        3: play({"a": ("0_0", "0_1"), "b": ("0_2",), "c": ("0_3",)}, 3),
        4: play({"a": ("0_0",), "b": ("0_1",), "c": ("0_2",), "d": ("0_3",)}, 4),
        5: play({"a": ("0_0",), "b": ("0_1",), "c": ("0_2",), "d": ("0_3",)}, 5),
    }
    curve = constant_input(dict.fromkeys(TASKS, 10.0), TASKS, RECORDS, "given")
    forecast = Forecast(curve, Capacity(50.0, RECORDS), tuple(lag), 600.0)
    return scaling_table(GROUP, [3, 4, 5], lambda count: iter([plays[count]]), None, forecast)


def test_a_count_whose_other_threads_work_off_their_lag_is_not_wasted() -> None:
    made = table([0.0, 0.0, 3_000.0, 3_000.0])
    three, four, five = made.rows
    # b and c work off their lag at 40 records a second each, and the twin both at 30 together.
    assert (three.verdict, three.same_as) == ("useful", 2)
    assert (four.verdict, four.same_as) == ("useful", None)
    assert (five.verdict, five.same_as) == ("wasted", 4)
    assert "Wasted, with the busiest thread of a smaller count and no less lag: 5 (as 4)." in the_sentences(made)


def test_a_group_without_lag_wastes_a_count_with_the_same_busiest_thread() -> None:
    three, four, five = table([0.0] * 4).rows
    assert [each.verdict for each in (three, five)] == ["wasted", "wasted"]
    assert four.verdict == "no gain"


@pytest.mark.parametrize("lag", [[0.0] * 4, [0.0, 0.0, 3_000.0, 3_000.0]])
def test_the_lag_over_time_never_grows_with_threads(lag: Sequence[float]) -> None:
    sums = [each.lag_seconds or 0.0 for each in table(lag).rows]
    assert sums == sorted(sums, reverse=True)
