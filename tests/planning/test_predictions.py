"""Plans of recorded groups, compared with a probe's view of the following change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.planning import Options, Prediction, Terms, predict_from, present_state, roll_plan, scale_plan
from assignor_lab.planning.instances import with_names
from assignor_lab.scenarios import read_scenarios
from assignor_lab.scenarios.settings import given_settings

PLANS = Path(__file__).parents[1] / "data" / "captures" / "plans"
SEEN: dict[str, list[dict[str, Any]]] = json.loads((PLANS / "seen.json").read_text())
ROLL: dict[str, Any] = {"order": ("d1", "d2", "d3"), "start_ms": 2_200}


def predicted(run: str, plays: int = 5, settings: tuple[str, ...] = (), **options: Any) -> Prediction:
    sources = config_sources(PLANS / run / "application.properties", settings)
    (scenario,) = read_scenarios(str(PLANS / run / "capture.jsonl"))
    terms = Terms(discover(), sources, given_settings(sources.above))
    state, _ = with_names(present_state(scenario, terms.settings), options.get("order", ()))
    make = scale_plan if options.get("to") else roll_plan
    return predict_from(state, make(state, Options(**options)), terms, plays)


def test_dynamic_members_are_away_for_the_session_timeout() -> None:
    made, seen = predicted("P1", **ROLL), SEEN["P1"]
    for step, truth in zip(made.steps, seen, strict=True):
        assert step.task_seconds.median == pytest.approx(truth["task_seconds"], rel=0.05)
        assert step.worst_task_seconds.median == pytest.approx(truth["worst_task_seconds"], rel=0.05)
        assert (step.tasks.median, step.rebalances.median) == (4, 1)
        assert step.at_seconds == pytest.approx(truth["at_seconds"], abs=1.0)
    assert made.total.restored_bytes is not None
    assert made.total.restored_bytes.high == 0  # an orderly close keeps the state on the disk


def test_a_scale_out_warms_state_up_before_it_moves_tasks() -> None:
    made, (seen,) = predicted("P8", to=4, start_ms=2_200), SEEN["P8"]
    assert made.total.rebalances.median == seen["rebalances"]
    assert made.total.task_seconds.median == pytest.approx(seen["task_seconds"], rel=0.2)
    assert made.rest_seconds is not None
    assert made.rest_seconds.median > 120  # two probing intervals of 60 s


def test_members_that_leave_cost_less_than_those_that_stay() -> None:
    stays, leaves = predicted("P10", **ROLL), predicted("P10", **ROLL, leave=True)
    assert leaves.total.task_seconds.median < stays.total.task_seconds.median
    assert leaves.total.rebalances.median > stays.total.rebalances.median


def test_the_streams_protocol_moves_tasks_in_each_step() -> None:
    made = predicted("P5", **ROLL, settings=("streams.heartbeat.interval.ms=3000",))
    assert made.total.restored_bytes is None  # the capture has no sizes
    assert made.total.rebalances.median >= 4
    assert made.total.tasks.median == 12


def test_two_at_once_cost_as_much_as_one_after_the_other_in_less_time() -> None:
    alone, together = predicted("P1", **ROLL), predicted("P1", **ROLL, batch=2)
    assert together.total.task_seconds.median == pytest.approx(alone.total.task_seconds.median, rel=0.05)
    assert together.duration_seconds.median < 0.75 * alone.duration_seconds.median


@pytest.mark.slow
def test_equal_seeds_give_equal_predictions() -> None:
    assert predicted("P10", plays=2, **ROLL, leave=True) == predicted("P10", plays=2, **ROLL, leave=True)
