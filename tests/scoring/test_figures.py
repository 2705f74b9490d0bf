"""Counts, means, places and worst cases of a small table, computed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assignor_lab.documents.values import plain_document
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.output.tables import results_schema
from assignor_lab.scoring.summaries.figures import aggregates, ranking, worst_states
from assignor_lab.scoring.summaries.tally import OTHER_SETTINGS, Tally, take_tally
from tests.groups.streams.states import METRICS
from tests.scoring.tables import light_row

LESS = attrs.evolve(METRICS["process_load_excess"], name="less")
MORE = attrs.evolve(METRICS["tasks_kept_on_process"], name="more")
NEITHER = attrs.evolve(METRICS["warmups_in_flight"], name="neither")
PLUGINS = {"less": LESS, "more": MORE, "neither": NEITHER}

# Item, assignor, error, less, more. Item 2 has no answer of "a", and "more" of item 0 is unknown.
ROWS = [
    (0, "a", None, 1.0, None),
    (0, "b", None, 2.0, None),
    (1, "a", None, 3.0, 0.5),
    (1, "b", None, 1.0, 0.5),
    (2, "a", "boom 12", None, None),
    (2, "b", None, 90.0, 0.1),
    (3, "a", None, 5.0, 0.2),
    (3, "b", None, 9.0, 0.4),
]


def row(item: int, assignor: str, **values: Any) -> dict[str, Any]:
    return {"item": item, "round": 0, "assignor": assignor, "source": 0, "scenario": f"s{item}", "time_ms": 7, **values}


@pytest.fixture
def table(tmp_path: Path) -> ResultsTable:
    rows = [
        row(item, name, error_type="Error" if error else None, error_message=error, less=less, more=more, neither=1.0)
        for item, name, error, less, more in ROWS
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=results_schema(tuple(PLUGINS))), tmp_path / "table.parquet")
    return ResultsTable(tmp_path / "table.parquet", ("a", "b"))


def by_key(entries: list[dict[str, Any]]) -> Mapping[tuple[str, str], dict[str, Any]]:
    return {(entry["assignor"], entry["metric"]): entry for entry in entries}


def test_aggregates_are_over_all_rows_with_a_figure(table: ResultsTable) -> None:
    found = by_key(plain_document(aggregates(table, PLUGINS)))
    assert found["a", "less"] == {
        "assignor": "a",
        "metric": "less",
        "n": 3,
        "mean": 3.0,
        "median": 3.0,
        "p90": pytest.approx(4.6),
        "min": 1.0,
        "max": 5.0,
        "worst": {"scenario": "s3", "round": 0, "time_ms": 7, "value": 5.0},
    }
    assert found["b", "less"]["mean"] == 25.5
    assert found["b", "more"]["worst"] == {"scenario": "s2", "round": 0, "time_ms": 7, "value": 0.1}
    assert found["a", "neither"]["worst"] is None


def test_places_are_by_means_over_shared_states(table: ResultsTable) -> None:
    found = plain_document(ranking(table, ["a", "b"], PLUGINS, {"a": 1, "b": 1}))
    assert found["states"] == 3
    assert found["by_metric"] == [
        {
            "metric": "less",
            "n": 3,
            "places": [{"place": 1, "assignor": "a", "mean": 3.0}, {"place": 2, "assignor": "b", "mean": 4.0}],
        },
        {
            "metric": "more",
            "n": 2,
            "places": [
                {"place": 1, "assignor": "b", "mean": pytest.approx(0.45)},
                {"place": 2, "assignor": "a", "mean": pytest.approx(0.35)},
            ],
        },
    ]
    assert [(entry["place"], entry["assignor"], entry["best_in"]) for entry in found["overall"]] == [
        (1, "a", ["less"]),
        (1, "b", ["more"]),
    ]


def test_nobody_is_ranked_where_nobody_answered(table: ResultsTable) -> None:
    assert plain_document(ranking(table, [], PLUGINS, {}))["overall"] == []


def test_worst_states_are_those_in_which_somebody_else_did_better(table: ResultsTable) -> None:
    assert worst_states(table, PLUGINS, 5) == [(2, 0, "b")]


#: Columns of a row on comparability.
NOTES = ("not_comparable", "settings_difference")


def counted(*rows: dict[str, Any]) -> Tally:
    empty = dict.fromkeys(("error_type", "error_java_type", "error_message", "equals_observed", "assumptions", *NOTES))
    return take_tally([light_row({**empty, **each}) for each in rows])


def test_failures_that_differ_in_numbers_only_are_one_kind() -> None:
    tally = counted(
        row(0, "a", error_type="E", error_message="task 1_0 at 0x7f1"),
        row(1, "a", error_type="E", error_message="task 1_7 at 0x80a"),
        row(2, "a", error_type="E", error_message="something else"),
    )
    assert [(failure["message"], failure["rows"]) for failure in plain_document(tally.failures())] == [
        ("task 1_0 at 0x7f1", 2),
        ("something else", 1),
    ]
    assert plain_document(tally.failures())[0]["first"] == {"scenario": "s0", "round": 0, "time_ms": 7}


def test_refusals_that_differ_in_process_ids_only_are_one_kind() -> None:
    first, second = "0a0a0a0a-0000-0000-0000-00000000abcd", "ffff0000-0000-0000-0000-0000000000ee"
    tally = counted(
        *(row(at, "a", error_type="E", error_message=f"no {text}") for at, text in enumerate((first, second)))
    )
    assert [failure["rows"] for failure in plain_document(tally.failures())] == [2]


def test_the_place_of_the_first_failure_is_told() -> None:
    tally = counted(row(0, "a", error_type="E", error_message="x", error_traceback="mine.py:3 in assign: boom()"))
    assert plain_document(tally.failures())[0]["traceback"] == "mine.py:3 in assign: boom()"


def test_a_metric_that_fails_is_counted_by_what_it_said() -> None:
    tally = counted(
        row(0, "a", metric_errors=["mine: ValueError: 7 is too much", "other: KeyError: 'x'"]),
        row(1, "a", metric_errors=["mine: ValueError: 8 is too much"]),
    )
    first = {"scenario": "s0", "round": 0, "time_ms": 7}
    assert plain_document(tally.metric_failures()) == [
        {"metric": "mine", "message": "ValueError: 7 is too much", "rows": 2, "first": first},
        {"metric": "other", "message": "KeyError: 'x'", "rows": 1, "first": first},
    ]


def test_no_more_kinds_of_failures_are_listed_than_a_reader_can_bear() -> None:
    letters = [chr(number) for number in range(0x4E00, 0x4E00 + 300)]
    tally = counted(*(row(at, "a", error_type="E", error_message=text) for at, text in enumerate(letters)))
    assert len(plain_document(tally.failures())) == 201
    assert plain_document(tally.failures())[-1]["rows"] == 100
    assert plain_document(tally.failures())[-1]["type"] is None


def test_agreement_counts_states_in_which_kafkas_decision_is_known() -> None:
    tally = counted(
        row(0, "a", equals_observed=True),
        row(0, "kafka"),
        row(1, "a", equals_observed=False, settings_difference=True),
        row(1, "kafka"),
        row(2, "a", error_type="E", error_message="boom"),
        row(2, "kafka"),
        row(3, "a"),
        row(4, "a", equals_observed=False, not_comparable="no racks"),
        row(4, "kafka"),
    )
    assert plain_document(tally.agreement(["a"])) == [
        {
            "assignor": "a",
            "compared": 3,
            "equal": 1,
            "different": 1,
            "failed": 1,
            "not_comparable": 1,
            "caveats": [{"text": OTHER_SETTINGS, "states": 1}],
            "first_difference": {"scenario": "s1", "round": 0, "time_ms": 7},
        }
    ]
    assert (tally.states, tally.captured, tally.rows, tally.failed_rows) == (5, 4, 9, 1)


def test_reasons_against_a_comparison_are_told_with_whom_and_how_often() -> None:
    tally = counted(
        row(0, "a", not_comparable="x"),
        row(0, "b", not_comparable="x"),
        row(0, "kafka"),
        row(1, "a", not_comparable="y"),
        row(1, "b"),
        row(2, "b", not_comparable="y"),
    )
    assert plain_document(tally.not_comparable()) == [
        {"reason": "y", "states": 2, "assignors": ["a", "b"]},
        {"reason": "x", "states": 1, "assignors": ["a", "b"]},
    ]
    assert [tally.comparable_of(name) for name in ("a", "b", "kafka")] == [0, 1, 1]


def test_assumptions_are_counted_by_state_not_by_row() -> None:
    tally = counted(row(0, "a", assumptions=["x", "y"]), row(0, "b", assumptions=["x", "y"]), row(1, "a"))
    assert plain_document(tally.assumptions()) == [{"text": "x", "states": 1}, {"text": "y", "states": 1}]
