from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.documents.values import plain_document
from assignor_lab.scoring.gates import GateContenders, parse_gate
from assignor_lab.scoring.output.summary_file import summary_of
from assignor_lab.scoring.summaries.evaluation import evaluated, gates_judged
from assignor_lab.scoring.terms import NO_TERMS, EvaluationTerms, ReplayCommand
from tests.report.summaries import tagged
from tests.scoring.tables import PLUGINS, Row, table_of

# Five histories of one round: "b" is behind "a" by 4 in item 3, ahead in item 1.
LESS_A, LESS_B = [1.0, 5.0, 2.0, 3.0, 1.0], [1.0, 4.0, 2.5, 7.0, 1.0]
ROWS: list[Row] = [
    *((item, 0, "a", {"less": less, "more": 0.5}) for item, less in enumerate(LESS_A)),
    *((item, 0, "b", {"less": less, "more": None}) for item, less in enumerate(LESS_B)),
]


def found(folder: Path, terms: EvaluationTerms = NO_TERMS) -> dict[str, Any]:
    return evaluated_of(ROWS, folder, terms)


def evaluated_of(rows: list[Row], folder: Path, terms: EvaluationTerms) -> dict[str, Any]:
    table = table_of(rows, folder)
    document: dict[str, Any] = plain_document(evaluated(table, PLUGINS, terms, len(PLUGINS)))
    return {**document, "gates": plain_document(gates_judged(table, terms))}


def entry(entries: list[dict[str, Any]], assignor: str, metric: str) -> dict[str, Any]:
    (only,) = (each for each in entries if (each["assignor"], each["metric"]) == (assignor, metric))
    return only


def test_distributions_are_quantiles_over_all_states(tmp_path: Path) -> None:
    distributions = found(tmp_path)["distributions"]
    at = distributions["levels"].index
    less = entry(distributions["of"], "a", "less")
    assert less["n"] == 5
    assert [less["values"][at(level)] for level in (0.0, 0.25, 0.5, 0.75, 1.0)] == [1.0, 1.0, 2.0, 3.0, 5.0]
    assert entry(distributions["of"], "b", "more")["values"] is None


def test_without_a_baseline_nothing_is_compared(tmp_path: Path) -> None:
    part = found(tmp_path)
    assert (part["differences"], part["gates"]) == ([], [])
    assert {case["by"] for case in part["worst_cases"]} == {"value"}


def test_differences_are_paired(tmp_path: Path) -> None:
    differences = found(tmp_path, EvaluationTerms("a"))["differences"]
    assert [each["assignor"] for each in differences] == ["b"] * len(PLUGINS)
    less = entry(differences, "b", "less")
    assert (less["histories"], less["states"], less["level"]) == (5, 5, 0.95)
    assert (less["mean"], less["baseline_mean"], less["difference"]) == pytest.approx((3.1, 2.4, 0.7))
    assert (less["lower"], less["equal"], less["higher"]) == (1, 2, 2)
    assert (less["low"], less["high"]) == (None, None)
    assert less["no_interval"]["code"] == "few"
    assert less["no_interval"]["enough"] > 30
    assert less["no_interval"]["reason"].startswith("5 histories are too few")
    assert (less["values"][0], less["values"][-1]) == (-1.0, 4.0)
    more = entry(differences, "b", "more")
    assert (more["histories"], more["difference"], more["values"], more["no_interval"]) == (0, None, None, None)


def test_a_difference_with_an_interval_has_no_reason_against_it(tmp_path: Path) -> None:
    rows: list[Row] = [
        (item, 0, name, {"less": item + shift * item}) for item in range(50) for name, shift in (("a", 0.0), ("b", 1.0))
    ]
    less = entry(evaluated_of(rows, tmp_path, EvaluationTerms("a"))["differences"], "b", "less")
    assert less["low"] < less["difference"] == 24.5 < less["high"]
    assert less["no_interval"] is None


def test_worst_cases_by_figure_and_by_what_the_baseline_had(tmp_path: Path) -> None:
    cases = [case for case in found(tmp_path, EvaluationTerms("a"))["worst_cases"] if case["assignor"] == "b"]
    assert [(case["by"], case["item"], case["value"], case["baseline_value"]) for case in cases] == [
        ("value", 3, 7.0, 3.0),
        ("value", 1, 4.0, 5.0),
        ("value", 2, 2.5, 2.0),
        ("difference", 3, 7.0, 3.0),
        ("difference", 2, 2.5, 2.0),
    ]
    assert (cases[0]["scenario"], cases[0]["family"], cases[0]["seed"]) == ("s3-0", "f", 103)


def test_no_state_is_worst_where_all_are_alike(tmp_path: Path) -> None:
    assert [case for case in found(tmp_path)["worst_cases"] if case["metric"] != "less"] == []


def test_each_worst_case_has_its_command(tmp_path: Path) -> None:
    replay = ReplayCommand(("my file.jsonl",), ("-c", "num.standby.replicas=2"))
    case = found(tmp_path, EvaluationTerms("a", replay=replay))["worst_cases"][-1]
    names = ["--assignor", "b", "--assignor", "a"]
    state = ["--families", "f", "--seed", "102", "--count", "1", "--only-round", "0"]
    config = ["-c", "num.standby.replicas=2", "--out", "replay"]
    assert shlex.split(case["replay"]) == ["assignor", "score", *state, *names, *config]
    file = ["assignor", "score", "my file.jsonl", "--only-item", "4", "--assignor", "b", *config]
    assert shlex.split(replay.command(4, 0, None, None, ["b"])) == file


def test_gates_are_part_of_the_summary_and_all_of_it_is_json(tmp_path: Path) -> None:
    gate = parse_gate("less > baseline with 95 % confidence")
    part = found(tmp_path, EvaluationTerms("a", (gate,), GateContenders(("a", "b"), "a")))
    (result,) = part["gates"]
    assert (result["expression"], result["assignor"], result["status"]) == (gate.expression, "b", "unknown")
    assert (result["histories"], result["confidence"], result["no_limit"]["code"]) == (5, 0.95, "few")
    assert json.loads(json.dumps(part, allow_nan=False)) == part


def test_readers_of_the_summary_take_it_with_and_without_the_added_keys(tmp_path: Path) -> None:
    old = tagged()
    part = found(tmp_path, EvaluationTerms("a", (parse_gate("less > 1"),), GateContenders(("a", "b"), "a")))
    assert not part.keys() & old["results"].keys()
    new = {**old, "results": {**old["results"], "baseline": "a", **part}}
    before, after = summary_of(old).results, summary_of(new).results
    assert (before.baseline, before.differences, before.worst_cases, before.slices) == (None, (), (), None)
    assert (after.baseline, len(after.differences)) == ("a", len(part["differences"]))
    assert len(after.worst_cases) == len(part["worst_cases"])
    assert after.slices is not None
    assert after.aggregates == before.aggregates
