"""Small runs are scored in this process, with equal results; the rest on Spark."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assignment_api.plugins import config_sources
from assignor_lab.cli import score_engine
from assignor_lab.cli.score_engine import is_small
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scoring import Generated
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.terms import ScoringRun
from tests.scoring.commands import command, refused
from tests.scoring.runs import NAMED, results_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FAMILY = ["--families", "streams_4x40", "--seed", "11"]
PAIR = ["--assignor", "high_availability", "--assignor", "sticky"]


def small(folder: Path, count: int, assignors: Sequence[str], overrides: Sequence[str] = ()) -> bool:
    given = config_sources(None, overrides, environ={}, start=folder)
    registry = discovered(given.effective()).registry
    with plan_sources([Generated("streams_4x40", count, 0)], registry, given.above) as plan:
        competing = found_contenders(registry, assignors, may_run_code=True, kind=plan.kind)
        return is_small(ScoringRun(registry, competing, plan, given))


def test_a_few_histories_are_small(tmp_path: Path) -> None:
    assert small(tmp_path, 32, ["sticky", "optimal"])
    assert not small(tmp_path, 33, ["sticky"])


def test_plugins_that_could_end_this_process_are_left_to_spark(tmp_path: Path) -> None:
    code = f"{NAMED}Greedy"
    assert small(tmp_path, 1, ["sticky", code])
    assert not small(tmp_path, 1, ["sticky", code], [f"assignor.plugins.trust={code}"])


def test_many_bytes_are_left_to_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_engine, "LOCAL_BYTES", -1)
    assert small(tmp_path, 1, ["sticky"])
    assert not small(tmp_path, 2, ["sticky"])


@pytest.mark.parametrize("words", [["--master", "local[2]"], ["--remote", "local[2]"]])
def test_this_process_has_no_master(tmp_path: Path, words: Sequence[str]) -> None:
    message = refused(tmp_path, *FAMILY, "--engine", "local", *words)
    assert "leave --master and --remote out" in " ".join(re.sub("[│╭╮╰╯─]", " ", message).split())


@pytest.mark.slow
def test_results_are_equal_to_the_byte(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("here", "there", "forced"):
        (tmp_path / name).mkdir()
    here = command(tmp_path / "here", *FAMILY, *PAIR, "--count", "3")
    assert here.returncode == 0, here.stderr
    assert "Scored in this process, without Spark; --engine spark gives equal results." in here.stdout
    there = command(tmp_path / "there", *FAMILY, *PAIR, "--count", "3", "--engine", "spark", spark=spark)
    assert there.returncode == 0, there.stderr
    assert "in this process" not in there.stdout
    assert results_bytes(tmp_path / "here" / "out") == results_bytes(tmp_path / "there" / "out")
    found = [json.loads((tmp_path / name / "out" / "summary.json").read_text()) for name in ("here", "there")]
    assert found[0]["results"] == found[1]["results"]
    assert (found[0]["run_metrics"]["master"], found[0]["run_metrics"]["cores"]) == ("this process", 1)
