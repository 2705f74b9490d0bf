from __future__ import annotations

from typing import Any

import pytest

from assignment_api.plugins import discover
from assignor_lab.groups.kind import LoadedContender
from assignor_lab.groups.runner.comparison import ComparisonRunner
from assignor_lab.groups.runner.convergence import Convergence, converged_after
from assignor_lab.groups.runner.rows import RowMaker
from assignor_lab.groups.streams.kind import STREAMS
from assignor_lab.groups.streams.metrics import LAB_METRICS, LIFE_CYCLE_METRICS
from assignor_lab.groups.work import WorkItem
from assignor_lab.scenarios.families import EVENT_FAMILIES

FAMILIES = {family.name: family for family in EVENT_FAMILIES}
COLUMNS = {metric.name: metric for metric in LIFE_CYCLE_METRICS}


@pytest.mark.parametrize(
    ("schedule", "rounds"),
    [
        # Answers by letters; a question mark requests a follow-up.
        ("a", 1),
        ("aaa", 1),
        ("abb", 2),
        ("a?a?b", 3),
        ("a?aa", 2),
        ("aba", 3),
        ("ab?", None),
        ("aaa?", None),
    ],
)
def test_rounds_are_counted_up_to_the_first_that_nothing_follows(schedule: str, rounds: int | None) -> None:
    rows: list[dict[str, Any]] = []
    for letter in schedule:
        if letter == "?":
            rows[-1]["followup"] = True
        else:
            rows.append({"answer_digest": letter, "followup": False})
    assert converged_after(rows) == rounds


def rows_of(family: str, seed: int, assignor: str) -> list[dict[str, Any]]:
    contest = ComparisonRunner(STREAMS, (LoadedContender(assignor, discover().task_assignor(assignor)),), FAMILIES)
    maker = RowMaker(STREAMS, {name: metric.compute for name, metric in COLUMNS.items()})
    rest, rows = Convergence(STREAMS, frozenset(COLUMNS)), []
    for answer in contest.answers(WorkItem(0, 0, family=family, seed=seed)):
        rows.append(maker.row(answer))
        rest.note(answer, rows[-1])
    rest.fill_in()
    return rows


def test_the_last_row_of_a_history_has_the_figures_and_no_other() -> None:
    rows = rows_of("scale_out", 4, "high_availability")
    assert [row["not_converged"] for row in rows[:-1]] == [None] * (len(rows) - 1)
    assert [row["rounds_to_converge"] for row in rows[:-1]] == [None] * (len(rows) - 1)
    assert rows[-1]["not_converged"] in (0.0, 1.0)
    assert (rows[-1]["rounds_to_converge"] is None) == (rows[-1]["not_converged"] == 1.0)


@pytest.mark.slow
def test_who_asks_for_a_follow_up_in_the_end_has_not_converged() -> None:
    for seed in range(12):
        last = rows_of("scale_out", seed, "high_availability")[-1]
        assert last["not_converged"] == float(last["followup"])


def test_a_single_answer_does_not_tell() -> None:
    assert {metric.name for metric in LIFE_CYCLE_METRICS} <= {metric.name for metric in LAB_METRICS}
    assert all(row["rounds_to_converge"] is None for row in rows_of("scale_out", 4, "sticky")[:-1])
