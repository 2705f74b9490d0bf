"""Predictions of recorded changes: the goals are met, and the page has their rows."""

from __future__ import annotations

from functools import cache

import pytest

from assignment_api.plugins import discover
from assignor_lab.planning.intervals import FIGURES
from assignor_lab.planning.predicted import Range
from calibration.accuracy.changes import RECORDINGS
from calibration.accuracy.conformal import calibration_of, errors_of, quantile
from calibration.accuracy.page import PAGE, page_text
from calibration.accuracy.predicting import Predicted, predicted_changes
from calibration.accuracy.public_report import REPORTED, planned_report
from calibration.accuracy.rows import Figure, StepRow, choices, rows_of, summary

pytestmark = pytest.mark.slow


@cache
def predicted() -> list[Predicted]:
    return predicted_changes(discover(), list(RECORDINGS), plays=8, seed=1)


@cache
def rows() -> list[StepRow]:
    return rows_of(predicted())


@pytest.mark.slow
def test_every_recorded_change_but_first_starts_is_predicted() -> None:
    counts = {name: sum(row.recording == name for row in rows()) for name in RECORDINGS}
    assert counts == {"A": 9, "B": 9, "C": 9, "D": 9, "F": 2, "P1": 3, "P5": 3, "P8": 1, "P10": 3}


def test_the_worst_task_is_predicted_as_well_as_promised() -> None:
    found = summary(rows(), "worst_task_seconds")
    assert found["median_error"] <= 0.15
    # The page has 20 plays. The extremes of eight plays hold a further one in 7 of 9 cases, not in 9 of 10.
    assert found["covered"] >= 0.75 * len(rows())
    assert found["beats_naive"] >= 0.85


def test_the_better_of_two_configurations_is_chosen() -> None:
    pairs = choices(rows())
    assert len(pairs) >= 30
    assert sum(pair.is_right for pair in pairs) >= 0.85 * len(pairs)


def test_the_page_has_a_line_for_each_step_and_figure() -> None:
    text = page_text(rows(), choices(rows()), calibration_of(predicted()))
    written = PAGE.read_text(encoding="utf-8")
    for row in rows():
        line = f"| {row.recording} | {row.phase} |"
        marked = f"| {row.recording} | *{row.phase}* |"
        for page in (text, written):
            assert page.count(line) + page.count(marked) >= len(FIGURES)


def test_a_quantile_counts_each_cluster_once() -> None:
    # Nineteen clusters: the greatest error. Thirty-nine: the second greatest. A cluster of many steps weighs no more.
    assert quantile([[0.1 * place] for place in range(19)]) == pytest.approx(1.8)
    assert quantile([[0.1 * place] for place in range(39)]) == pytest.approx(3.7)
    assert quantile([[5.0] * 100, *([0.1 * place] for place in range(38))]) == pytest.approx(3.7)
    assert quantile([[0.3], [0.2]]) == 0.3


def test_an_error_belongs_to_the_end_beyond_which_the_truth_lies() -> None:
    assert errors_of(Range(10.0, 8.0, 12.0), 9.0) == (0.0, 0.0)
    assert errors_of(Range(10.0, 8.0, 12.0), 7.0) == pytest.approx((0.1, 0.0))
    assert errors_of(Range(10.0, 8.0, 12.0), 14.0) == pytest.approx((0.0, 0.2))
    assert errors_of(Range(0.1, 0.0, 0.2), 0.7) == pytest.approx((0.0, 0.5))


def test_a_figure_is_far_off_by_share_and_seconds() -> None:
    assert Figure(6.0, Range(10.0, 9.0, 11.0), None).is_far
    assert not Figure(2.0, Range(4.0, 3.0, 5.0), None).is_far
    assert not Figure(10.0, Range(14.0, 9.0, 15.0), 30.0).is_far
    assert not Figure(6.0, Range(10.0, 9.0, 11.0), 6.5).beats_naive


def test_a_closed_instance_of_the_public_report_waits_for_its_session_unless_its_members_leave() -> None:
    found = {(each.assumption, each.way): each.worst_task_seconds for each in planned_report(discover(), plays=1)}
    assert len(found) == 5 * len(REPORTED)
    for (assumption, way), seconds in found.items():
        assert seconds >= 45 or not assumption.startswith("defaults")
        assert 10 <= seconds < 45 or not assumption.startswith("session timeout 10 s")
        assert seconds < 10 or not assumption.startswith("members leave")
        # All instances stop here, so the start is what is lost.
        assert seconds >= 60 or not (assumption.startswith("they leave, start takes 60 s") and way.startswith("all"))


@pytest.mark.parametrize(
    ("recording", "phase", "least", "most"),
    [
        ("P1", "rolling restart: d1", 10, 10),
        ("P10", "rolling restart: d1", 2.4, 2.7),
        ("A", "kill -9 of d3", 10, 10),
        ("D", "kill -9 of d2", 10, 10),
        ("F", "kill -9 of d1", 30, 36),
    ],
    ids=["session timeout", "start and close", "copies on other disks", "standbys", "copies lost"],
)
def test_the_naive_estimate_adds_restoring_where_the_only_copy_is_lost(
    recording: str, phase: str, least: float, most: float
) -> None:
    (row,) = (each for each in rows() if (each.recording, each.phase) == (recording, phase))
    assert row.worst.naive is not None
    assert least <= row.worst.naive <= most
