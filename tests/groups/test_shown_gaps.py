"""The avoidable part of an answer in words."""

from __future__ import annotations

import pytest

from assignment_api import ApplicationMetadata, AssignmentConfigs, TaskAssignment
from assignment_api.optimum import Gap, Goal
from assignor_lab.groups import shown_gaps as shown
from assignor_lab.groups.entries import kind_named

EMPTY = ApplicationMetadata(AssignmentConfigs(), [], [])


def moves(value: float, bound: float, *, is_exact: bool = True) -> str | None:
    return shown.moves_sentence([Gap(Goal("balance"), 4, 4, True), Gap(Goal("moves"), value, bound, is_exact)])


def test_unavoidable_moves_are_a_sentence() -> None:
    assert moves(7, 2) == "2 of the 7 moves between processes were unavoidable for this balance."
    assert moves(7, 1) == "1 of the 7 moves between processes was unavoidable for this balance."
    assert moves(7, 7) == "The 7 moves between processes were unavoidable for this balance."
    assert moves(1, 1) == "The 1 move between processes was unavoidable for this balance."
    assert (
        moves(7, 2, is_exact=False) == "At least 2 of the 7 moves between processes were unavoidable for this balance."
    )


def test_without_moves_or_without_gaps_there_is_no_sentence() -> None:
    assert moves(0, 0) is None
    assert shown.moves_sentence(None) is None
    assert shown.gap_documents(None) is None


def test_a_cell_has_the_value_and_its_avoidable_part() -> None:
    assert shown.gap_cell(Gap(Goal("moves"), 7, 2, True)) == "7 (5 avoidable)"
    assert shown.gap_cell(Gap(Goal("moves"), 7, 2, False)) == "7 (at most 5 avoidable)"
    assert shown.gap_cell(Gap(Goal("moves"), 7, 7, True)) == "7"


def test_a_large_state_and_a_missing_solver_have_no_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = kind_named("streams")
    assert shown.shown_gaps(kind, EMPTY, TaskAssignment([]), shown.MOST_TASKS + 1) is None
    monkeypatch.setattr(shown, "has_solver", lambda: False)
    assert shown.shown_gaps(kind, EMPTY, TaskAssignment([]), 0) is None
