"""A kind of group that is defined in a test works from file to report, like the lab's own."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups import entries
from assignor_lab.groups.kind import LoadedContender
from assignor_lab.groups.runner.result_lines import AnswerOptions
from assignor_lab.run import run_scoring
from assignor_lab.scenarios import read_scenarios
from assignor_lab.scenarios.formats import known_formats
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.engine.engine import Engine
from assignor_lab.scoring.engine.in_process import InProcess
from assignor_lab.scoring.output.folder import RESULTS, OutputFolder
from assignor_lab.scoring.output.summary_file import summary_document
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.spark.engine import OnSpark
from assignor_lab.scoring.terms import ScoringRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENINGS = [{"smith": 4, "jones": 3}, {"smith": 2, "jones": 2, "miller": 5}]
SCENARIOS = [
    {"format": 1, "kind": "tables", "id": "inn", "seats": {"window": 4, "door": 6}, "evenings": EVENINGS},
    {"format": 1, "kind": "tables", "id": "no-table", "seats": {}, "evenings": [{"smith": 1}]},
]


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.setattr(known_formats, "_FORMATS", dict(known_formats._FORMATS))
    monkeypatch.setattr(entries, "_ENTRIES", dict(entries._ENTRIES))
    module = importlib.import_module("tests.groups.toy_kind")
    entries.register_kind(module.ENTRY)
    yield module
    sys.modules.pop("tests.groups.toy_kind")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tables.jsonl"
    path.write_text("".join(json.dumps(scenario) + "\n" for scenario in SCENARIOS), encoding="utf-8")
    return path


def scored(engine: Engine, file: Path, out: Path) -> tuple[list[dict[str, Any]], dict[str, Any], str]:
    """The rows, the summary and the page."""
    registry, config = discover(), config_sources(environ={}, start=out.parent)
    with plan_sources([file], registry) as plan, OutputFolder(out) as folder:
        competing = found_contenders(registry, kind=plan.kind)
        summary = run_scoring(ScoringRun(registry, competing, plan, config), engine, folder)
    return (
        pq.read_table(out / RESULTS).to_pylist(),
        summary_document(summary),
        (out / "report.html").read_text(encoding="utf-8"),
    )


@pytest.mark.slow
def test_it_is_scored_from_file_to_report(toy: ModuleType, file: Path, tmp_path: Path) -> None:
    rows, summary, page = scored(InProcess(), file, tmp_path / "out")
    crowded = {(row["scenario"], row["round"], row["assignor"]): row["crowded"] for row in rows}
    assert crowded["inn", 0, "first_table"] == 3.0
    assert crowded["inn", 0, "fullest"] == 0.0
    assert crowded["inn", 1, "first_table"] == 5.0
    assert {row["guests"] for row in rows if row["round"] == 1} == {9}
    errors = {(row["scenario"], row["assignor"]): row["error_type"] for row in rows}
    assert errors["inn", "fullest"] is None
    # An untrusted one ended its own process, and nothing else.
    assert errors["inn", "leaves"] == "ProcessDiedError"
    assert {errors["no-table", name] for name in toy.ASSIGNORS} == {"AssignorLabError"}
    results = summary["results"]
    assert results["ranking"]["by_metric"][0]["places"][0]["assignor"] == "fullest"
    assert [picture["scenario"] for picture in results["groups"]] == ["inn", "inn", "no-table"]
    assert "window" in page
    assert "fullest" in page


def test_on_spark_its_rows_are_the_same(spark: SparkSession, toy: ModuleType, file: Path, tmp_path: Path) -> None:
    here, _, _ = scored(InProcess(), file, tmp_path / "here")
    there, _, _ = scored(OnSpark(spark), file, tmp_path / "there")
    assert there == here


def test_it_is_answered_line_by_line(toy: ModuleType, file: Path) -> None:
    from assignor_lab.groups.runner.result_lines import line_of

    inn, no_table = read_scenarios(file)
    options = AnswerOptions(config_sources(environ={}))
    contender = LoadedContender("fullest", toy.ASSIGNORS["fullest"])
    line = line_of(toy.TABLES, contender, discover(), inn, options)
    assert line["seating"][0] == {"smith": "door", "jones": "window"}
    refused = line_of(toy.TABLES, contender, discover(), no_table, options)
    assert refused["error"]["message"] == "evenings[0]: there is no table"
    assert refused["seating"] is None
