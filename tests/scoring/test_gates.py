"""Gates against a small table, computed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

from assignor_lab.model.comparisons import Verdict
from assignor_lab.scoring.gates import GateContenders, GateNameError, check_gates, judge, parse_gate
from assignor_lab.scoring.output.results_table import ResultsTable
from tests.scoring.tables import PLUGINS, Row, table_of

# Three histories of two rounds. In each, "b" has 1, 2 and 3 more than "a" in the mean of the rounds.
ROWS: list[Row] = [
    *((item, number, "a", {"less": 10.0 + number, "more": 0.5}) for item in range(3) for number in range(2)),
    *((item, number, "b", {"less": 11.0 + item + number, "more": 0.5}) for item in range(3) for number in range(2)),
    *((item, 0, "c", "boom" if item else {"less": 10.0}) for item in range(3)),
]
SUBJECTS = GateContenders(("a", "b", "c"), baseline="a", observed="kafka")


@pytest.fixture
def table(tmp_path: Path) -> ResultsTable:
    return table_of(ROWS, tmp_path)


def verdict(table: ResultsTable, expression: str, subjects: GateContenders = SUBJECTS) -> Verdict:
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


def histories(folder: Path, differences: Sequence[float], own: float = 10.0) -> ResultsTable:
    """Histories of one round: "a" has ``own`` in each, "b" is off by one of the differences."""
    rows: list[Row] = [
        (item, 0, name, {"less": own + (difference if name == "b" else 0.0)})
        for item, difference in enumerate(differences)
        for name in ("a", "b")
    ]
    return table_of(rows, folder)


# 41 differences from -2 to 6, evenly: mean 2, standard deviation 0.2 sqrt(41 42 / 12), Student's t at 95 % 1.683851.
EVEN = [-2 + 0.2 * step for step in range(41)]
LIMIT = 2 - 1.683851 * 0.2 * (41 * 42 / 12) ** 0.5 / 41**0.5


@pytest.mark.parametrize(
    ("bound", "status"), [("baseline", "failed"), ("baseline + 1.36", "failed"), ("baseline + 1.38", "passed")]
)
def test_with_confidence_the_limit_decides(tmp_path: Path, bound: str, status: str) -> None:
    found = verdict(histories(tmp_path, EVEN), f"less of b > {bound} with 95 % confidence")
    assert (found.status, found.histories, found.states, found.no_limit) == (status, 41, 41, None)
    assert found.limit == pytest.approx(10 + LIMIT, rel=1e-6)


def test_the_reason_of_a_relative_gate_is_about_the_difference(tmp_path: Path) -> None:
    found = verdict(histories(tmp_path, EVEN), "less of b > baseline + 1.36 with 95 % confidence")
    assert found.reason == (
        f"12 beside 10: a difference of +2, with 95 % confidence above {LIMIT:+.6g}; fails at > +1.36; "
        "over 41 histories, 41 states"
    )


def test_for_a_sign_below_the_upper_limit_decides(tmp_path: Path) -> None:
    table = histories(tmp_path, EVEN)
    assert verdict(table, "less of b < 12.64 with 95 % confidence").status == "failed"
    assert verdict(table, "less of b < 12.62 with 95 % confidence").status == "passed"


#: As even as a sample of a lognormal distribution can be.
TAIL = [exp(2 * NormalDist().inv_cdf((step + 0.5) / 100)) for step in range(100)]


@pytest.mark.parametrize(
    ("differences", "gate", "code", "reason"),
    [
        ([1.0, 2.0, 3.0], "less of b > baseline", "few", "3 histories are too few: 30 must differ"),
        ([0.0] * 90 + [1.0] * 10, "less of b > baseline", "few", "10 of 100 histories differ noticeably"),
        ([0.0] * 90 + [1.0] * 10, "less of b > baseline + 5 %", "few", "10 of 100 histories differ noticeably"),
        ([0.0] * 90 + [1.0] * 10, "less of b < 11", "few", "about 410 histories would do"),
        (TAIL, "less of b > baseline", "uneven", "histories that differ make up"),
        ([0.0] * 58, "less of b > baseline", "same", "all 58 histories are alike"),
        ([2.0] * 58, "less of b > 11", "same", "about 59 histories would do"),
    ],
)
def test_a_run_that_does_not_bear_the_confidence_says_why_and_how_many_histories_would_do(
    tmp_path: Path, differences: list[float], gate: str, code: str, reason: str
) -> None:
    found = verdict(histories(tmp_path, differences), f"{gate} with 95 % confidence")
    assert (found.status, found.limit, found.histories) == ("unknown", None, len(differences))
    assert found.no_limit is not None
    assert (found.no_limit.code, reason in found.reason) == (code, True)
    assert found.reason.startswith("no 95 % confidence: ")
    assert f"about {found.no_limit.enough:,} histories would do" in found.reason


@pytest.mark.parametrize(
    ("difference", "gate", "status"),
    [
        (0.0, "less of b > baseline", "passed"),
        (0.0, "less of b > baseline + 5 %", "passed"),
        (0.0, "less of b > 9", "failed"),
        (2.0, "less of b > baseline + 1", "failed"),
        (2.0, "less of b < 11", "passed"),
    ],
)
def test_where_at_least_59_histories_say_the_very_same_that_decides(
    tmp_path: Path, difference: float, gate: str, status: str
) -> None:
    found = verdict(histories(tmp_path, [difference] * 59), f"{gate} with 95 % confidence")
    assert (found.status, found.limit, found.no_limit) == (status, None, None)


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
    alone = GateContenders(("b",), baseline="b")
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
    subjects = GateContenders(("a", "b", "c"), baseline, "kafka")
    with pytest.raises(GateNameError) as caught:
        check_gates([parse_gate("less > 1"), parse_gate(expression)], tuple(PLUGINS), subjects)
    assert (caught.value.expression, caught.value.column) == (expression, column)
    assert reason in caught.value.reason


def test_a_former_name_of_a_metric_leads_to_the_present_one() -> None:
    gate = parse_gate("mean(jobs_per_worker) of a > 1")
    with pytest.raises(GateNameError, match="did you mean 'jobs_per_worker_range'"):
        check_gates([gate], ("jobs_per_worker_range", "jobs_moved"), GateContenders(("a",), None, None))


@pytest.mark.parametrize("expression", ["less of b > baseline", "mean(less) of b > 0", "max(less) of b > 0"])
def test_a_gate_on_answers_that_are_not_comparable_cannot_be_told(tmp_path: Path, expression: str) -> None:
    lost: Any = {"less": 1.0, "not_comparable": "racks decide, and are unknown"}
    rows: list[Row] = [(item, 0, name, {"less": 2.0}) for item in range(4) for name in ("a", "c")]
    found = verdict(table_of([*rows, *((item, 0, "b", lost) for item in range(4))], tmp_path), expression)
    assert (found.status, found.value) == ("unknown", None)
    assert found.reason == "no answer of b can be compared: racks decide, and are unknown"
