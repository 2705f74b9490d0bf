"""Days under policies: a made-up group whose scalings are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import attrs
import pytest

from assignor_lab.advising.scaling_policy import advised_policy
from assignor_lab.planning.measured import PlayedPlan, StepCost
from assignor_lab.planning.scaling.days import ScalingSteps, TraceCost, played_day
from assignor_lab.planning.scaling.plays import ScalingPlay
from assignor_lab.planning.scaling.policies import ScalingPolicy, constant_policy, kedas_default
from assignor_lab.planning.scaling.queues import lag_of
from assignor_lab.planning.scaling.rates import RECORDS, InputCurve, constant_input
from assignor_lab.planning.scaling.traces import SHAPES, generated_day

TASKS = tuple(f"0_{number}" for number in range(12))


@attrs.frozen(slots=False)
class MadeUpGroup:
    """Each scaling stops all tasks for 30 s; then they are spread evenly."""

    names: tuple[str, ...] = ("i0", "i1", "i2")
    unit: str = "instance"
    task: str = "task"
    thread: str = "thread"
    remedy: str = ""
    tasks: tuple[str, ...] = TASKS
    threads: int = 3
    commit_s: float = 0.0
    reads: Mapping[str, Sequence[tuple[str, int]]] = attrs.field(factory=dict)
    input_bytes_per_s: Mapping[str, float] = attrs.field(factory=dict)
    lags: Mapping[str, float] = attrs.field(factory=dict)

    def played(self, counts: Sequence[int], seed: str) -> ScalingPlay:
        before = counts[-2] if len(counts) > 1 else len(self.names)
        owned = {
            task: [(-60.0, 0.0, (f"i{place % before}", 0)), (30.0, inf, (f"i{place % counts[-1]}", 0))]
            for place, task in enumerate(TASKS)
        }
        step = StepCost(360.0, 30.0, 12, 1, 0.0, {})
        absences = {task: [(0.0, 30.0)] for task in TASKS}
        return ScalingPlay(PlayedPlan((step,), step, (0.0,), 30.0, 30.0, absences, None), 0.0, owned, counts[-1])


GROUP = MadeUpGroup()


def day(policy: ScalingPolicy, curve: InputCurve, capacity: float = 100.0) -> TraceCost:
    steps = ScalingSteps(GROUP, lambda counts: GROUP.played(counts, ""))
    return played_day(policy, steps, curve, capacity, [0.0] * 12, 3, GROUP.commit_s)


def constant(total: float, until_s: float = 3600.0) -> InputCurve:
    made = constant_input(dict.fromkeys(TASKS, total / 12), TASKS, RECORDS, "")
    return attrs.evolve(made, until_s=until_s)


def test_a_group_that_keeps_up_has_no_lag_and_pays_its_hours() -> None:
    cost = day(constant_policy(3), constant(300))
    assert (cost.lag_seconds, cost.scalings) == (0, 0)
    assert cost.instance_hours == pytest.approx(3)


def test_a_group_that_falls_behind_gains_the_difference() -> None:
    cost = day(constant_policy(3), constant(400))
    assert cost.last_lag == pytest.approx(100 * 3600)
    assert cost.lag_seconds == pytest.approx(100 * 3600 * 3600 / 2)


def test_a_scaling_stops_the_tasks_and_the_rest_of_the_threads_works_the_lag_off() -> None:
    cost = day(constant_policy(6), constant(300))
    # 30 s without output: 9000 records, which 600 - 300 work off in 30 s.
    assert cost.worst_lag == pytest.approx(9000)
    assert cost.lag_seconds == pytest.approx(9000 * 30)
    assert (cost.scalings, cost.rebalances, cost.away_seconds) == (1, 1, 360)
    assert cost.last_lag == 0


def test_a_day_has_the_lag_of_the_same_runs_in_a_table_of_counts() -> None:
    tasks = {task: (f"i{place % 4}", 0) for place, task in enumerate(TASKS)}
    # Away for a part of a step, one task longer than the others.
    owned = {task: [(-9.0, 2.5, ("i0", 0)), (4.0 + place / 7, inf, tasks[task])] for place, task in enumerate(TASKS)}
    cost = PlayedPlan((step := StepCost(1.0, 1.0, 1, 1, 0.0, {}),), step, (0.0,), 0.0, 0.0, {}, None)
    curve = InputCurve(TASKS, (0.0, 7.0, 100.0), ((20.0,) * 12, (31.0,) * 12, (9.0,) * 12), RECORDS, "", 600.0)
    steps = ScalingSteps(GROUP, lambda _: ScalingPlay(cost, 0.0, owned, 4))
    day = played_day(constant_policy(4), steps, curve, 100.0, [5.0] * 12, 3, 0.0)
    table = lag_of(owned, curve, 100.0, [5.0] * 12, 600.0)
    assert day.lag_seconds == pytest.approx(table.lag_seconds)
    assert day.worst_lag == pytest.approx(max(table.lags))


def test_generated_days_are_the_same_for_a_seed_and_stay_below_the_peak() -> None:
    weights = dict.fromkeys(TASKS, 1.0)
    for shape in SHAPES:
        made = generated_day(shape, "1", 300, weights)
        assert made.rates == generated_day(shape, "1", 300, weights).rates
        assert made.rates != generated_day(shape, "2", 300, weights).rates
        assert 0 <= min(made.totals) < max(made.totals) <= 310


def test_the_advised_policy_has_less_lag_and_fewer_hours_than_kedas_default() -> None:
    whole = generated_day("daily", "1", 250, dict.fromkeys(TASKS, 1.0))
    # Two hours around the largest input.
    most = max(60, whole.totals.index(max(whole.totals)))
    curve = attrs.evolve(whole, times_s=whole.times_s[:120], rates=whole.rates[most - 60 : most + 60], until_s=7200.0)
    advice = advised_policy([2, 4, 12], curve, lambda count: 100.0 * count, 30.0, day)
    keda = day(kedas_default([2, 12]), curve)
    assert advice.keda == keda
    assert advice.chosen.lag_seconds <= keda.lag_seconds
    assert advice.chosen.instance_hours <= keda.instance_hours
    assert advice.lag_share <= 1
