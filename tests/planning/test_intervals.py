from __future__ import annotations

from typing import Any

import attrs
import pytest

from assignor_lab.planning.intervals import Widening, calibrated, form_of, shipped_calibration, widening_of
from assignor_lab.planning.plans import Action, Plan, Step
from assignor_lab.planning.predicted import Prediction, Range, StepRange

ERRORS = {"worst_task_seconds": (0.0, 0.1), "task_seconds": (0.2, 0.1)}
KNOWN = {"restart in place": Widening(ERRORS, 11.0, 4, 12)}


def exactly(value: float) -> Range:
    return Range(value, value, value)


def step(seconds: float = 10.0, **changes: Any) -> StepRange:
    made = StepRange(
        "d1", 0.0, exactly(4 * seconds), exactly(seconds), exactly(4), exactly(1), exactly(0), {"session timeout": 40.0}
    )
    return attrs.evolve(made, **changes)


def calibrated_step(of: StepRange, plan: str = "roll", *actions: Action) -> StepRange:
    made = Prediction((of,), of, exactly(10.0), None, ())
    return calibrated(made, "classic", Plan(plan, (Step("d1", actions),)), KNOWN).steps[0]


def test_each_end_of_an_interval_grows_by_its_share_of_the_prediction() -> None:
    found = calibrated_step(step())
    assert (found.worst_task_seconds.low, found.worst_task_seconds.high) == pytest.approx((10.0, 11.0))
    assert (found.task_seconds.low, found.task_seconds.high) == pytest.approx((32.0, 44.0))
    assert found.poorly_known == ()


@pytest.mark.parametrize(("steps", "high"), [(1, 13.0), (3, 16.0)])
def test_each_step_of_a_foreign_group_may_be_late(steps: int, high: float) -> None:
    made = Prediction((step(),), step(), exactly(10.0), None, ())
    found = calibrated(made, "classic", Plan("roll", (Step("d1", ()),) * steps)).duration_seconds
    assert (found.low, found.median, found.high) == pytest.approx((8.5, 10.0, high))


def test_an_interval_holds_nothing_below_zero() -> None:
    assert widening_of(Range(0.2, 0.1, 0.4), 0.5, 0.5) == Range(0.2, 0.0, 0.9)


@pytest.mark.parametrize(
    ("plan", "protocol", "spent_on", "form"),
    [
        ("roll", "classic", {"session timeout": 40.0, "joining": 1.0}, "restart in place"),
        ("roll", "classic", {"process restart": 9.0}, "restart in place"),
        ("kill", "streams", {"session timeout": 40.0, "restoring": 3.0}, "lost member"),
        ("kill", "classic", {"session timeout": 40.0, "restoring": 60.0}, "restoring"),
        ("scale", "classic", {"joining": 10.0, "restoring": 3.9}, "moves, classic protocol"),
        ("roll", "streams", {"joining": 10.0}, "moves, streams protocol"),
        ("roll", "streams", {"joining": 10.0, "restoring": 10.0}, "moves, streams protocol"),
        ("roll", "classic", {"joining": 10.0, "restoring": 10.0}, "restoring"),
        ("scale", "classic", {}, "moves, classic protocol"),
    ],
)
def test_the_form_of_a_change_follows_from_the_main_cause(
    plan: str, protocol: str, spent_on: dict[str, float], form: str
) -> None:
    assert form_of(protocol, plan, step(spent_on=spent_on)) == form


@pytest.mark.parametrize(
    ("changed", "plan", "reason"),
    [
        ({}, "scale", "no recorded change is of this form: lost member"),
        ({"restored_bytes": None}, "roll", "sizes of the restored state are unknown: give them with --workload"),
        ({"worst_task_seconds": Range(10.0, 4.0, 14.0)}, "roll", "the interval is wider than the prediction"),
        ({"worst_task_seconds": exactly(60.0)}, "roll", "no recorded one of this form"),
    ],
)
def test_a_plan_outside_the_recorded_range_is_poorly_known(changed: dict[str, Any], plan: str, reason: str) -> None:
    (found,) = calibrated_step(step(**changed), plan).poorly_known
    assert reason in found


def test_the_distribution_has_the_errors_of_each_recorded_form() -> None:
    shipped = shipped_calibration()
    assert {"restart in place", "lost member", "restoring"} < shipped.keys()
    assert max(shipped["restart in place"].errors["worst_task_seconds"]) < 0.1


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (Action("surge", "d1", successor="d1-new"), "no recorded change starts successors first"),
        (Action("restart", "d1", is_stuck=True), "no recorded change has a step that never becomes ready"),
        (Action("kill", "d2"), "no recorded rolling restart has a crash"),
        (Action("restart", "d1", replace=True), "no recorded rolling restart has processes without their state"),
    ],
    ids=["surge", "stuck", "crash", "replace"],
)
def test_a_kind_of_plan_that_was_never_recorded_is_poorly_known(action: Action, reason: str) -> None:
    assert calibrated_step(step(), "roll", action).poorly_known == (reason,)
    assert calibrated_step(step(), "roll", Action("restart", "d1")).poorly_known == ()


def test_a_script_is_poorly_known() -> None:
    assert "no recorded change is of this kind: script" in calibrated_step(step(), "script").poorly_known
