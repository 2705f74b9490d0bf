"""The headline: five figures, compared in pairs, and an order that claims no more than the intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assignment_api.plugins import discover
from assignor_lab.documents.values import plain_document
from assignor_lab.groups.connect.kind import CONNECT
from assignor_lab.groups.entries import KindEntry, entries
from assignor_lab.groups.metrics.headline import headline_of
from assignor_lab.groups.work import OBSERVED
from assignor_lab.scoring.statistics.signs import holm, sign_probability
from assignor_lab.scoring.summaries.headline import Headline, headline
from benchmarks.coverage.orders import POPULATIONS, rates
from tests.scoring.tables import PLUGINS, Row, table_of

FIGURES = headline_of(restored=("neither", "less"), load=("less",), failures=("neither",))
DRAWS = np.random.default_rng(5).normal(size=(2, 200))


def histories(**values: Sequence[float | Mapping[str, Any] | str]) -> list[Row]:
    """A history of one state for each position: figures of ``less`` by assignor, or a whole row, or an error."""
    return [
        (item, 0, name, {"less": value, "neither": 0.0} if isinstance(value, (int, float)) else value)
        for name, column in values.items()
        for item, value in enumerate(column)
    ]


def found(folder: Path, baseline: str | None = None, **values: Any) -> Headline:
    rows = histories(**values)
    return headline(table_of(rows, folder), list(values), FIGURES, PLUGINS, baseline)


def figure(found: Headline, name: str) -> dict[str, Any]:
    return next(each for each in plain_document(found.found)["figures"] if each["figure"] == name)


def tells(found: Headline, name: str) -> dict[str, str | None]:
    return {each["assignor"]: each["tells"] for each in figure(found, name)["of"]}


def test_who_is_surely_better_and_nowhere_behind_comes_first(tmp_path: Path) -> None:
    made = found(tmp_path, a=list(DRAWS[0]), b=list(DRAWS[0] + 1 + DRAWS[1] / 4))
    assert made.places == {"a": 1, "b": 2}
    assert tells(made, "load") == {"a": None, "b": "worse"}
    load = figure(made, "load")["of"][1]
    assert load["low"] < load["difference"] < load["high"]
    assert load["mean"] - figure(made, "load")["of"][0]["mean"] == pytest.approx(load["difference"])


def test_where_the_interval_holds_zero_a_place_is_shared(tmp_path: Path) -> None:
    made = found(tmp_path, a=list(DRAWS[0]), b=list(DRAWS[0] + 0.01 + DRAWS[1]))
    assert made.places == {"a": 1, "b": 1}
    assert tells(made, "load")["b"] == "unclear"


def test_who_is_better_here_and_behind_there_shares_a_place(tmp_path: Path) -> None:
    worse = [{"less": value + 1, "neither": 0.0} for value in DRAWS[0] + DRAWS[1] / 4]
    fails = [*DRAWS[0][:-2], "boom", "boom"]
    made = found(tmp_path, a=fails, b=worse)
    assert figure(made, "failures")["of"][0]["mean"] == pytest.approx(0.01)
    assert tells(made, "load")["b"] == "worse"
    assert made.places == {"a": 1, "b": 1}


@pytest.mark.parametrize(("higher", "lower", "expected"), [(5, 0, "none"), (9, 1, "none"), (0, 0, "equal")])
def test_without_an_interval_the_direction_is_counted_and_not_judged(
    tmp_path: Path, higher: int, lower: int, expected: str
) -> None:
    differences = [5.0 + item for item in range(higher)] + [-0.1] * lower + [0.0] * (10 - higher - lower)
    made = found(tmp_path, a=[0.0] * 10, b=differences)
    value = figure(made, "load")["of"][1]
    counts = (value["lower"], value["equal"], value["higher"])
    assert (value["tells"], counts) == (expected, (lower, 10 - higher - lower, higher))
    assert value["no_interval"] is not None
    assert made.places == {"a": 1, "b": 1}
    assert made.found.best == ()


def test_equal_means_of_rare_large_and_common_small_costs_are_no_finding(tmp_path: Path) -> None:
    """The sign test finds a difference: 48 of 49 signs are one way."""
    common, rare = [1.0] * 48 + [0.0] * 72, [0.0] * 119 + [48.0]
    made = found(tmp_path, a=common, b=rare)
    assert tells(made, "load")["b"] == "unclear"
    assert made.places == {"a": 1, "b": 1}


@pytest.mark.parametrize(("number", "expected"), [(5, "none"), (60, "worse")])
def test_the_same_difference_in_all_histories_is_judged_by_its_sign(tmp_path: Path, number: int, expected: str) -> None:
    made = found(tmp_path, a=[0.0] * number, b=[1.0] * number)
    assert tells(made, "load")["b"] == expected
    assert made.places == {"a": 1, "b": 2 if expected == "worse" else 1}


def test_a_rare_large_cost_of_others_keeps_a_verdict_unclear(tmp_path: Path) -> None:
    """``b`` never had the cost of ``c``: without ``c``, the run has no evidence for it."""
    common, never = [1.0] * 80 + [0.0] * 120, [0.0] * 200
    rare = [40.0] * 2 + [0.0] * 198
    assert tells(found(tmp_path, a=common, b=never), "load")["b"] == "better"
    beside = found(tmp_path, a=common, b=never, c=rare)
    assert tells(beside, "load")["b"] == "unclear"
    assert beside.places == {"a": 1, "b": 1, "c": 1}


def test_a_large_cost_in_many_histories_leaves_the_verdicts_of_others(tmp_path: Path) -> None:
    often = [100.0 * value for value in DRAWS[0] ** 2]
    made = found(tmp_path, a=list(DRAWS[0]), b=list(DRAWS[0] + 1 + DRAWS[1] / 4), c=often)
    assert tells(made, "load")["b"] == "worse"
    assert made.places["a"] < made.places["b"]


def test_findings_hold_among_all_comparisons() -> None:
    """One of three chances of 2 % passes alone and not in its family."""
    assert holm([0.02]) == [True]
    assert holm([0.02, 0.9, 0.5]) == [False, False, False]
    assert holm([0.03, 0.001, 0.02, 0.9]) == [False, True, False, False]
    assert holm([0.01, 0.001, 0.02]) == [True, True, True]


@pytest.mark.parametrize(("population", "histories"), [("normal", 60), ("mixed: 1 in 40 %, or 20 in 2 %", 100)])
def test_six_equal_contenders_have_an_order_in_few_runs(population: str, histories: int) -> None:
    order, verdict = rates(POPULATIONS[population], histories, runs=40, seed=3)
    assert order <= 0.05
    assert verdict <= 0.05


@pytest.mark.parametrize(("lower", "higher"), [(0, 0), (0, 1), (3, 4), (0, 5), (0, 6), (2, 11), (31, 2), (900, 1100)])
def test_the_sign_test_is_exact(lower: int, higher: int) -> None:
    number = lower + higher
    tail = sum(comb(number, count) for count in range(min(lower, higher) + 1))
    assert sign_probability(lower, higher) == pytest.approx(float(min(Fraction(1), Fraction(2 * tail, 2**number))))


@pytest.mark.parametrize(
    ("names", "baseline", "expected"),
    [(("a", "b"), None, "a"), (("a", "b"), "b", "b"), (("a", OBSERVED), None, OBSERVED), (("a", "b"), "absent", "a")],
)
def test_the_baseline_is_the_one_asked_for_else_kafka_else_the_first(
    tmp_path: Path, names: Sequence[str], baseline: str | None, expected: str
) -> None:
    assert (
        plain_document(found(tmp_path, baseline, **{name: [1.0, 2.0] for name in names}).found)["baseline"] == expected
    )


def test_an_answer_that_leaves_tasks_to_nobody_is_a_failed_one(tmp_path: Path) -> None:
    made = found(tmp_path, a=[{"less": 1.0, "neither": 1.0}, 1.0, "boom", 1.0])
    assert figure(made, "failures")["of"][0]["mean"] == 0.5


def test_rows_that_are_not_comparable_are_in_no_figure(tmp_path: Path) -> None:
    lost = {"less": 100.0, "neither": 0.0, "not_comparable": "no racks"}
    made = found(tmp_path, a=[1.0, lost, 3.0], b=[1.0, 2.0, 3.0])
    assert plain_document(made.found)["states"] == 2
    assert [each["mean"] for each in figure(made, "load")["of"]] == [2.0, 2.0]


def test_the_metric_that_is_known_in_most_states_measures_a_figure(tmp_path: Path) -> None:
    known = [{"less": 1.0, "neither": 7.0}, {"less": 2.0, "neither": None}]
    assert figure(found(tmp_path, a=known), "restored")["metric"] == "less"
    assert figure(found(tmp_path, a=known[:1]), "restored")["metric"] == "neither"


def test_what_has_no_value_is_not_measured_and_not_zero(tmp_path: Path) -> None:
    made = figure(found(tmp_path, a=[1.0]), "unavailable")
    assert (made["metric"], made["of"]) == (None, [])
    assert "simulated" in made["not_measured"]


def test_each_history_counts_alike(tmp_path: Path) -> None:
    rows: list[Row] = [(0, number, "a", {"less": 1.0, "neither": 0.0}) for number in range(9)]
    rows.append((1, 0, "a", {"less": 3.0, "neither": 0.0}))
    made = headline(table_of(rows, tmp_path), ["a"], FIGURES, PLUGINS, None)
    assert (figure(made, "load")["of"][0]["mean"], plain_document(made.found)["histories"]) == (2.0, 2)


def test_nobody_to_compare_is_no_figure(tmp_path: Path) -> None:
    made = headline(table_of(histories(a=["boom"]), tmp_path), [], FIGURES, PLUGINS, None)
    assert made.places == {}
    assert all(each["of"] == [] for each in plain_document(made.found)["figures"])


@pytest.mark.parametrize("entry", [entry for entry in entries() if entry.is_scored], ids=lambda entry: str(entry.name))
def test_every_metric_of_a_headline_is_one_of_the_kind(entry: KindEntry) -> None:
    kind = entry.load()
    asked_for = {metric for each in kind.headline for metric in each.metrics}
    assert asked_for
    assert asked_for <= kind.metrics(discover()).keys()


def test_connect_has_what_stops_beside_the_load() -> None:
    figures = {each.name: each for each in CONNECT.headline}
    assert (figures["unavailable"].title, figures["unavailable"].metrics) == ("Jobs stopped", ("jobs_stopped",))


def test_a_contender_without_any_answer_is_in_the_figure_of_failures_alone(tmp_path: Path) -> None:
    values: dict[str, Any] = {"a": list(DRAWS[0][:20]), "b": list(DRAWS[0][:20] + 1), "c": ["Broken"] * 20}
    table = table_of(histories(**values), tmp_path)
    made = headline(table, ["a", "b"], FIGURES, PLUGINS, "a", ["c"])
    assert {each["assignor"]: each["mean"] for each in figure(made, "failures")["of"]} == {"a": 0.0, "b": 0.0, "c": 1.0}
    assert tells(made, "failures")["c"] == "worse"
    assert [each["assignor"] for each in figure(made, "load")["of"]] == ["a", "b"]
    assert set(made.places) == {"a", "b"}
    # The figures of the others do not depend on it.
    without = headline(table, ["a", "b"], FIGURES, PLUGINS, "a")
    assert figure(made, "load")["of"][1]["difference"] == figure(without, "load")["of"][1]["difference"]


def test_one_contender_beside_a_failed_one_is_compared_in_failures(tmp_path: Path) -> None:
    table = table_of(histories(a=[1.0, 2.0], c=["Broken", "Broken"]), tmp_path)
    made = headline(table, ["a"], FIGURES, PLUGINS, None, ["c"])
    assert [each["assignor"] for each in figure(made, "failures")["of"]] == ["a", "c"]
    assert made.places == {"a": 1}
