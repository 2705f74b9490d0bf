"""Misbehaving Java assignors together with good ones of two Kafka releases, in one run on Spark."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from typer.testing import CliRunner

from assignment_api.plugins.selection import config_sources
from assignor_lab.cli.app import build_app
from assignor_lab.run import run_scoring
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.spark.engine import OnSpark
from assignor_lab.scoring.terms import ScoringRun
from tests.builtin_assignors.golden import GOLDEN, documents
from tests.runtime.java.kafka import KAFKA_4_3, STICKY
from tests.scoring.runs import results_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.services

BAD = {
    "Hangs": ("DeadlineExceededError", "did not answer within 5 s"),
    "Exits": ("ProcessDiedError", "with exit code 3"),
    "Eats": ("MemoryLimitError", "needed more than 512 MiB"),
    "Recurses": ("StackOverflowError", ""),
    "Prints": ("OutputLimitError", "printed more than 1,024 KiB"),
    "Raises": ("IllegalStateException", "cannot place it"),
    "Refuses": ("TaskAssignmentError", "not now"),
    "Forgets": ("InvalidAnswerError", "MISSING_PROCESS_ID"),
    "Scribbles": ("JavaAnswerError", "have it print by System.out"),
    "CannotBeMade": ("IllegalArgumentException", "no"),
}
LIMITS = [
    "assignor.plugins.call.timeout.ms=5000",
    "assignor.plugins.memory.mb=512",
    f"assignor.java.kafka={KAFKA_4_3}",
]
#: From the golden data: four clients with racks, one standby each.
SCENARIO = "small-00153"


@pytest.fixture(scope="module")
def rows(
    spark: SparkSession, bad_jar: Path, kafka_3_8: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, pa.Table]:
    folder = tmp_path_factory.mktemp("java")
    good = {
        "sticky": "sticky@4.3",
        "3.8": f"java:{STICKY}@@{kafka_3_8}",
        "4.3": f"java:{STICKY}",
        "own": f"java:lab.Bad$Good@{bad_jar}",
        "busy": f"java:lab.Bad$LeavesThreads@{bad_jar}",
    }
    names = {**{name: f"java:lab.Bad${name}@{bad_jar}" for name in BAD}, **good}
    config = config_sources(None, LIMITS, environ={}, start=folder)
    plugins = discovered(config.effective())
    competing = found_contenders(plugins.registry, list(names.values()), may_run_code=True)
    read = [each for each in documents(GOLDEN / "small.scenarios.jsonl.gz") if each["id"] == SCENARIO]
    source = folder / "one.jsonl"
    source.write_text("".join(json.dumps(each) + "\n" for each in read))
    with plan_sources([str(source)], plugins.registry, config.above) as plan, OutputFolder(folder / "out") as out:
        run_scoring(ScoringRun(plugins.registry, competing, plan, config), OnSpark(spark), out, lambda _progress: None)
    found = results_of(folder / "out")
    return {name: found.filter(pc.equal(found["assignor"], text)) for name, text in names.items()}


@pytest.mark.parametrize("name", BAD)
def test_every_row_of_a_bad_one_says_what_it_did(rows: dict[str, pa.Table], name: str) -> None:
    error_type, said = BAD[name]
    found = rows[name].to_pylist()
    assert len(found) == 1
    assert found[0]["error_type"] == error_type
    assert said in found[0]["error_message"]


@pytest.mark.parametrize("name", ["3.8", "4.3", "own", "busy"])
def test_the_rows_of_a_good_one_are_those_of_our_sticky(rows: dict[str, pa.Table], name: str) -> None:
    assert rows[name].num_rows == 1
    expected = rows["sticky"].drop_columns(["assignor"])
    assert rows[name].drop_columns(["assignor"]).equals(expected)


def test_a_failure_is_told_with_the_java_stack_from_the_assignors_first_frame_on(rows: dict[str, pa.Table]) -> None:
    (where,) = set(rows["Raises"]["error_traceback"].to_pylist())
    lines = where.splitlines()
    assert lines[0].startswith("Bad.java:")
    assert lines[0].endswith("in lab.Bad$Raises.assign")
    assert any(line.startswith("caused by java.lang.NumberFormatException: For input") for line in lines)
    assert "assignorlab" not in where


def test_a_looping_one_has_its_java_frames_as_the_place(bad_jar: Path, tmp_path: Path) -> None:
    states = tmp_path / "one.jsonl"
    states.write_text(json.dumps(documents(GOLDEN / "small.scenarios.jsonl.gz")[0]) + "\n")
    limits = [word for each in LIMITS for word in ("-c", each)]
    words = ["assign", "--assignor", f"java:lab.Bad$Hangs@{bad_jar}", str(states), *limits]
    done = CliRunner().invoke(build_app(words), words)
    assert re.search(r"was stopped in Bad\.java:\d+ in lab\.Bad\$Hangs\.assign", done.stderr)
