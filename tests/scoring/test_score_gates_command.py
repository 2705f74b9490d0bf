from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from junitparser import Failure, JUnitXml

from tests.scoring.commands import command, refused
from tests.scoring.runs import NAMED, results_of
from tests.scoring.test_score_command import FAMILY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.long]

WORSE = f"{NAMED}WorseSticky"
GATE = "total_tasks_per_thread_range > baseline + 5 % with 95 % confidence"


def summary_of(folder: Path) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))["results"]
    return results


def test_a_worse_copy_fails_its_gate_and_its_worst_case_can_be_seen_again(spark: SparkSession, tmp_path: Path) -> None:
    gates = ["--fail-if", GATE, "--fail-if", "failed_rows > 0", "--junit", "gates.xml"]
    done = command(tmp_path, "--assignor", WORSE, "--baseline", "sticky", *FAMILY, "--count", "40", *gates, spark=spark)
    assert done.returncode == 1, done.stderr
    assert f"FAILED  {WORSE}: {GATE}: " in done.stdout
    assert f"passed  {WORSE}: failed_rows > 0: 0; fails at > 0; over 320 rows" in done.stdout

    (suite,) = JUnitXml.fromfile(str(tmp_path / "gates.xml"))
    assert (suite.tests, suite.failures, suite.errors) == (2, 1, 0)
    assert [type(result) for case in suite for result in case.result] == [Failure]

    summary = summary_of(tmp_path)
    assert summary["baseline"] == "sticky"
    assert [(each["assignor"], each["status"]) for each in summary["gates"]] == [(WORSE, "failed"), (WORSE, "passed")]
    worst = next(case for case in summary["worst_cases"] if case["by"] == "difference" and case["round"] > 0)
    before = {
        (row["scenario"], row["assignor"]): row
        for row in results_of(tmp_path / "out").to_pylist()
        if row["scenario"] == worst["scenario"]
    }

    words = shlex.split(worst["replay"])
    assert words[:2] == ["assignor", "score"]
    assert words[-2:] == ["--out", "replay"]
    again = command(tmp_path, *words[2:-2], spark=spark)
    assert again.returncode == 0, again.stderr
    rows = results_of(tmp_path / "out").to_pylist()
    assert {(row["scenario"], row["assignor"]) for row in rows} == {
        (worst["scenario"], WORSE),
        (worst["scenario"], "sticky"),
    }
    for row in rows:
        assert row == {**before[row["scenario"], row["assignor"]], "item": 0}
    assert summary_of(tmp_path)["states"] == 1


def test_too_few_histories_for_the_confidence_end_with_2_and_say_how_many_would_do(
    spark: SparkSession, tmp_path: Path
) -> None:
    gates = ["--fail-if", GATE, "--fail-if", "failed_rows > 0", "--junit", "gates.xml"]
    done = command(tmp_path, "--assignor", WORSE, "--baseline", "sticky", *FAMILY, "--count", "6", *gates, spark=spark)
    assert done.returncode == 2, done.stderr
    why = "no 95 % confidence: 6 histories are too few: 30 must differ; about "
    assert f"UNKNOWN {WORSE}: {GATE}: {why}" in done.stdout
    (suite,) = JUnitXml.fromfile(str(tmp_path / "gates.xml"))
    assert (suite.tests, suite.failures, suite.errors) == (2, 0, 1)
    results = summary_of(tmp_path)
    assert [each["status"] for each in results["gates"]] == ["unknown", "passed"]
    assert results["gates"][0]["no_limit"]["enough"] > 30
    assert {each["no_interval"]["code"] for each in results["differences"] if each["histories"]} <= {"few", "same"}

    gates = ["--fail-if", GATE, "--fail-if", "total_tasks_per_thread_range > baseline"]
    done = command(tmp_path, "--assignor", WORSE, "--baseline", "sticky", *FAMILY, "--count", "6", *gates, spark=spark)
    assert done.returncode == 1, done.stderr


def test_an_assignor_against_itself_passes(spark: SparkSession, tmp_path: Path) -> None:
    gates = ["--fail-if", GATE, "--fail-if", "stateful_actives_moved > baseline", "--junit", str(tmp_path / "g.xml")]
    alone = ["--assignor", "sticky", "--baseline", "sticky"]
    done = command(tmp_path, *alone, *FAMILY, "--count", "2", *gates, "--json", spark=spark)
    assert done.returncode == 0, done.stderr
    assert [each["status"] for each in json.loads(done.stdout)["results"]["gates"]] == ["passed", "passed"]
    assert [case.is_passed for suite in JUnitXml.fromfile(str(tmp_path / "g.xml")) for case in suite] == [True, True]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fail-if", "mean(process_load_excess > 3"], "column 26: expected ')', but found '>'"),
        (["--fail-if", "proces_load_excess > 3"], "did you mean 'process_load_excess'"),
        (["--fail-if", "process_load > 3"], "did you mean 'process_load_excess'"),
        (["--fail-if", "process_load_excess > baseline"], "--baseline NAME"),
        (["--fail-if", "process_load_excess of nobody > 1"], "no assignor 'nobody' in this run"),
        (["--baseline", "nobody"], "nobody"),
        (["--junit", "gates.xml"], "give --fail-if"),
        (["--fail-if", "failed_rows > 0", "--junit", "missing/gates.xml"], "name a file in a folder that exists"),
        (["--only-item", "9"], "no item 9: the sources hold items 0 to 0"),
        (["--only-round", "8"], "no round 8: there are rounds 0 to 7"),
    ],
)
def test_what_cannot_be_judged_is_refused_before_anything_is_scored(
    tmp_path: Path, words: list[str], message: str
) -> None:
    text = refused(tmp_path, "--assignor", "sticky", *FAMILY, "--count", "1", *words)
    assert message in text
