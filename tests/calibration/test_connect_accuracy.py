"""Predictions of recorded changes of real Connect clusters, and the truth in their logs."""

from __future__ import annotations

from functools import cache

import pytest

from assignment_api.plugins import discover
from assignor_lab.planning.intervals import FIGURES
from calibration.accuracy.connect_page import connect_text
from calibration.accuracy.connect_predicting import ConnectRow, covered, predicted_connect, rows_of_connect
from calibration.accuracy.connect_recordings import CONNECT_RECORDINGS, ConnectChange, connect_changes
from calibration.accuracy.page import PAGE

pytestmark = pytest.mark.slow


@cache
def rows() -> list[ConnectRow]:
    return rows_of_connect(predicted_connect(discover(), CONNECT_RECORDINGS, plays=10, seed=1))


@cache
def changes() -> list[ConnectChange]:
    return [change for folder in CONNECT_RECORDINGS for change in connect_changes(folder)]


def test_at_least_five_rolls_a_kill_and_a_scale_are_recorded_with_the_leader_first_and_last() -> None:
    rolls = [change for change in changes() if change.plan == "roll"]
    assert len(rolls) >= 5
    assert {change.recording for change in rolls} >= {"delay-0", "delay-20", "delay-60"}
    for place in ("first", "last"):
        assert any(f"leader {place}" in change.name for change in rolls)
    assert any(change.plan == "kill" for change in changes())


@pytest.mark.parametrize(
    ("recording", "name", "worst"),
    [
        ("delay-20", "roll, leader first", [2.5, 1.5, 22.2]),
        ("delay-20", "roll, leader last", [22.3, 22.0, 2.7]),
        ("delay-20", "kill of a follower", [31.1]),
        ("delay-20", "kill of the leader", [10.5]),
        ("delay-60", "roll, leader last", [62.5, 62.1, 2.2]),
    ],
)
def test_jobs_of_a_follower_wait_out_the_delay_and_those_of_a_leader_do_not(
    recording: str, name: str, worst: list[float]
) -> None:
    (change,) = (each for each in changes() if (each.recording, each.name) == (recording, name))
    assert [round(step.worst_task_seconds, 1) for step in change.steps] == worst


@pytest.mark.parametrize("figure", FIGURES)
def test_the_truth_lies_in_the_interval(figure: str) -> None:
    inside, count = covered(rows(), figure)
    # The page has 40 plays and 80 %; the extremes of ten plays hold a further one less often.
    assert inside >= 0.65 * count


def test_the_number_of_rebalances_is_predicted() -> None:
    steps = [row for row in rows() if row.is_step]
    assert sum(row.rebalances[0] == round(row.rebalances[1]) for row in steps) >= 0.8 * len(steps)


def test_the_page_has_a_line_for_each_step_and_figure() -> None:
    written = PAGE.read_text(encoding="utf-8")
    text = connect_text(rows(), {})
    for row in rows():
        for page in (text, written):
            assert page.count(f"| {row.recording} | {row.change} | {row.step} | ") >= len(FIGURES)
