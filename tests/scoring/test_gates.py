"""Gates against a small table, computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignor_lab.scoring.gates import GateNameError, Subjects, Verdict, check_gates, judge, parse_gate
from assignor_lab.scoring.summary.figures import ResultsTable
from tests.scoring.tables import PLUGINS, Row, table_of

# Three histories of two rounds. In each, "b" has 1, 2 and 3 more than "a" in the mean of the rounds.
ROWS: list[Row] = [
    *((item, number, "a", {"less": 10.0 + number, "more": 0.5}) for item in range(3) for number in range(2)),
    *((item, number, "b", {"less": 11.0 + item + number, "more": 0.5}) for item in range(3) for number in range(2)),
    *((item, 0, "c", "boom" if item else {"less": 10.0}) for item in range(3)),
]
SUBJECTS = Subjects(("a", "b", "c"), baseline="a", observed="kafka")


@pytest.fixture
def table(tmp_path: Path) -> ResultsTable:
    return table_of(ROWS, tmp_path)


def verdict(table: ResultsTable, expression: str, subjects: Subjects = SUBJECTS) -> Verdict:
    (found,) = judge([parse_gate(expression)], subjects, table)
    return found


@pytest.mark.parametrize(
    ("expression", "status", "value", "bound"),
    [
        ("less of b > 12", "failed", 12.5, 12.0),
        ("less of b > 12.5", "passed", 12.5, 12.5),
        ("less of b >= 12.5", "failed", 12.5, 12.5),
        ("less of b < 12", "passed", 12.5, 12.0),
        ("more of b <= 50 %", "failed", 0.5, 0.5),
        ("min(less) of b < 11", "passed", 11.0, 11.0),
        ("median(less) of b > 12", "failed", 12.5, 12.0),
        ("max(less) of b > 13.5", "failed", 14.0, 13.5),
        ("p50(less) of b > 12", "failed", 12.5, 12.0),
        ("less of b > baseline", "failed", 12.5, 10.5),
        ("less of b > baseline + 2", "passed", 12.5, 12.5),
        ("less of b > baseline + 10 % + 1", "passed", 12.5, 12.55),
        ("max(less) of b > baseline + 2", "failed", 14.0, 13.0),
        ("more of b < baseline", "passed", 0.5, 0.5),
        ("failed_rows of c > 1", "failed", 2.0, 1.0),
        ("failed_share of c > 70 %", "passed", 2 / 3, 0.7),
        ("failed_rows of c > baseline + 2", "passed", 2.0, 2.0),
        ("less of a > baseline", "passed", 10.5, 10.5),
    ],
)
def test_what_is_measured_against_what(
    table: ResultsTable, expression: str, status: str, value: float, bound: float
) -> None:
    found = verdict(table, expression)
    assert found.status == status
    assert (found.value, found.bound) == pytest.approx((value, bound))


# The differences are 1, 2, 3: standard error 1/sqrt(3), Student's t with 2 degrees at 95 % is 2.91999.
LIMIT = 2 - 2.9199856 / 3**0.5


@pytest.mark.parametrize(
    ("bound", "status"), [("baseline", "failed"), ("baseline + 0.3", "failed"), ("baseline + 0.32", "passed")]
)
def test_with_confidence_the_limit_decides(table: ResultsTable, bound: str, status: str) -> None:
    found = verdict(table, f"less of b > {bound} with 95 % confidence")
    assert (found.status, found.units, found.states) == (status, 3, 6)
    assert found.limit == pytest.approx(10.5 + LIMIT)


def test_for_a_sign_below_the_upper_limit_decides(table: ResultsTable) -> None:
    assert verdict(table, "less of b < 15 with 95 % confidence").status == "failed"
    assert verdict(table, "less of b < 14 with 95 % confidence").status == "passed"


def test_only_states_in_which_both_have_a_figure_count(table: ResultsTable) -> None:
    found = verdict(table, "less of c > baseline")
    assert (found.value, found.bound, found.states) == (10.0, 10.0, 1)


def test_without_a_name_everybody_but_the_baseline_is_judged(table: ResultsTable) -> None:
    found = judge([parse_gate("less > 0"), parse_gate("failed_rows > 0")], SUBJECTS, table)
    assert [(each.expression, each.assignor) for each in found] == [
        ("less > 0", "b"),
        ("less > 0", "c"),
        ("failed_rows > 0", "b"),
        ("failed_rows > 0", "c"),
    ]


def test_an_assignor_alone_is_judged_against_itself_and_passes(table: ResultsTable) -> None:
    alone = Subjects(("b",), baseline="b")
    for expression in ("less > baseline", "less > baseline with 99 % confidence", "max(less) > baseline + 0 %"):
        found = verdict(table, expression, alone)
        assert (found.assignor, found.status) == ("b", "passed")


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("neither of a > 0", "no state has a figure in neither"),
        ("more of c < baseline", "no state has a figure of both c and a in more"),
        ("less of kafka > 0", "kafka has no rows"),
        ("less of c > 0 with 95 % confidence", "1 history is too few"),
    ],
)
def test_what_cannot_be_told_does_not_pass(table: ResultsTable, expression: str, reason: str) -> None:
    found = verdict(table, expression)
    assert found.status == "unknown"
    assert reason in found.reason


@pytest.mark.parametrize(
    ("expression", "baseline", "column", "reason"),
    [
        ("mean(lesss) > 1", "a", 6, "did you mean 'less'"),
        ("error > 1", "a", 1, "there are: less, more, neither"),
        ("less of d > 1", "a", 9, "there are: a, b, c, kafka"),
        ("less > baseline + 1", None, 8, "--baseline NAME"),
    ],
)
def test_names_that_this_run_has_not(expression: str, baseline: str | None, column: int, reason: str) -> None:
    subjects = Subjects(("a", "b", "c"), baseline, "kafka")
    with pytest.raises(GateNameError) as caught:
        check_gates([parse_gate("less > 1"), parse_gate(expression)], tuple(PLUGINS), subjects)
    assert (caught.value.expression, caught.value.column) == (expression, column)
    assert reason in caught.value.reason
