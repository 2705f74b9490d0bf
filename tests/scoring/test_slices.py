"""A run cut by family and size: parts add up, bins count, differences are those of the part alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assignor_lab.documents.values import plain_document
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.output.tables import results_schema
from assignor_lab.scoring.statistics.bins import MOST_BINS, Bins, bins_of
from assignor_lab.scoring.statistics.differences import paired_difference
from assignor_lab.scoring.statistics.slices import slices_of
from assignor_lab.scoring.summaries.evaluation import evaluated
from assignor_lab.scoring.terms import EvaluationTerms
from tests.scoring.tables import PLUGINS

#: Family and clients of each item, repeated; the clients of every sixth one are unknown.
ITEMS = [("grow", 2), ("grow", 5), ("grow", 6), ("shrink", 5), ("shrink", 300), (None, None)] * 15


def less(item: int, number: int, assignor: str) -> float:
    return item * 2.0 + number + (1.5 * item if assignor == "b" else 0.0)


@pytest.fixture
def table(tmp_path: Path) -> ResultsTable:
    rows: list[dict[str, Any]] = [
        {
            "item": item,
            "round": number,
            "assignor": assignor,
            "source": 0,
            "family": family,
            "seed": item,
            "clients": clients if clients is None or number else clients - 1,
            "scenario": f"{item}-{number}",
            "less": less(item, number, assignor),
        }
        for item, (family, clients) in enumerate(ITEMS)
        for number in range(2)
        for assignor in ("a", "b")
    ]
    path = tmp_path / "table.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=results_schema(tuple(PLUGINS))), path)
    return ResultsTable(path, ("a", "b"))


def items_of(part: dict[str, Any], slices: dict[str, Any]) -> list[int]:
    chosen = []
    for item, (family, clients) in enumerate(ITEMS):
        size = None if part["size"] is None else slices["sizes"][part["size"]]
        if part["family"] is not None and slices["families"][part["family"]] != family:
            continue
        if size is not None and (clients is None or not size["low"] <= clients <= (size["high"] or clients)):
            continue
        chosen.append(item)
    return chosen


def test_the_parts_are_the_families_and_sizes_that_occur(table: ResultsTable) -> None:
    slices = plain_document(slices_of(table, 1).summary((), (), ()))
    assert slices["families"] == ["grow", "shrink", None]
    assert slices["sizes"] == [{"low": 1, "high": 3}, {"low": 4, "high": 8}, {"low": 101, "high": None}]
    assert slices["of"][0] == {"family": None, "size": None, "histories": 90}
    assert {"family": 0, "size": 1, "histories": 30} in slices["of"]
    assert {"family": 0, "size": 2, "histories": 0} not in slices["of"]


def test_figures_of_a_part_are_those_of_its_histories(table: ResultsTable) -> None:
    slices = plain_document(evaluated(table, PLUGINS, EvaluationTerms(), len(PLUGINS)))["slices"]
    for found in (each for each in slices["figures"] if each["metric"] == "less"):
        for place, part in enumerate(slices["of"]):
            values = [less(item, number, found["assignor"]) for item in items_of(part, slices) for number in range(2)]
            assert found["n"][place] == sum(found["counts"][place]) == len(values)
            assert found["mean"][place] == pytest.approx(sum(values) / len(values))
            assert (found["min"][place], found["max"][place]) == (min(values), max(values))


def test_differences_of_a_part_are_those_of_its_histories(table: ResultsTable) -> None:
    slices = plain_document(evaluated(table, PLUGINS, EvaluationTerms("a"), len(PLUGINS)))["slices"]
    (found,) = (each for each in slices["differences"] if each["metric"] == "less")
    assert found["assignor"] == "b"
    for place, part in enumerate(slices["of"]):
        states = [(item, number) for item in items_of(part, slices) for number in range(2)]
        own, other = ([less(*state, name) for state in states] for name in ("b", "a"))
        expected = paired_difference(own, other, [item for item, _ in states])
        assert found["histories"][place] == expected.units
        assert found["difference"][place] == pytest.approx(expected.difference, rel=1e-5)
        for end, value in (("low", expected.low), ("high", expected.high)):
            assert found[end][place] == (None if value is None else pytest.approx(value, rel=1e-5, abs=1e-9))
        assert found["no_interval"][place] == (None if expected.no_interval is None else expected.no_interval.code)
    assert set(found["no_interval"]) == {None, "few"}


def test_without_a_figure_there_are_none(table: ResultsTable) -> None:
    slices = plain_document(evaluated(table, PLUGINS, EvaluationTerms("a"), len(PLUGINS)))["slices"]
    (found,) = (each for each in slices["figures"] if (each["assignor"], each["metric"]) == ("a", "more"))
    assert (found["n"][0], found["mean"][0], found["counts"][0]) == (0, None, [])
    (differs,) = (each for each in slices["differences"] if each["metric"] == "more")
    assert (differs["histories"][0], differs["difference"][0], differs["low"][0]) == (0, None, None)


def test_many_metrics_leave_the_whole_run_alone(table: ResultsTable) -> None:
    assert len(slices_of(table, 1).parts) > 7
    assert all(part.family is None or part.size is None for part in slices_of(table, 800).parts)
    assert len(slices_of(table, 10**6).parts) == 1


def chunked(*values: float) -> pa.ChunkedArray:
    return pa.chunked_array([list(values)], pa.float64())


def test_few_whole_numbers_have_a_bin_each() -> None:
    bins = bins_of(chunked(0, 3, 3, 4))
    assert bins == Bins(0.0, 1.0, 5, whole=True)
    assert bins.positions(chunked(0, 3, 4)).to_pylist() == [0, 3, 4]


def test_a_long_tail_is_in_the_last_bin() -> None:
    bins = bins_of(chunked(*([1.0] * 500), *([2.0] * 499), 1e6))
    assert bins == Bins(1.0, 1.0, 2, whole=True)
    assert bins.positions(chunked(1e6)).to_pylist() == [1]


def test_other_figures_have_bins_of_one_width() -> None:
    bins = bins_of(chunked(0.0, 0.5, 1.0))
    assert (len(bins), bins.whole) == (MOST_BINS, False)
    assert bins.positions(chunked(0.0, 0.5, 1.0, 7.0)).to_pylist() == [0, 10, MOST_BINS - 1, MOST_BINS - 1]


@pytest.mark.parametrize("value", [0.0, -3.0, 0.25])
def test_one_figure_has_a_bin(value: float) -> None:
    bins = bins_of(chunked(value, value))
    (position,) = set(bins.positions(chunked(value, value)).to_pylist())
    assert 0 <= position < len(bins)


def test_nothing_has_one_empty_bin() -> None:
    assert len(bins_of(chunked())) == 1
