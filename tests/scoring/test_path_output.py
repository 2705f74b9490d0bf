"""Rows on a path that Spark writes: equal to those of a folder, resumed part by part."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.cli.main import main
from assignor_lab.run import run_on_path
from assignor_lab.scoring import Generated
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.engine import blocks
from assignor_lab.scoring.engine.rows_folder import ResumeError
from assignor_lab.scoring.output.tables import KEY_NAMES
from assignor_lab.scoring.rows import Progress
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.spark import path_output
from assignor_lab.scoring.spark.engine import OnSpark
from assignor_lab.scoring.spark.path_output import PathError, PathOutput, is_spark_path
from assignor_lab.scoring.terms import ScoringRun
from tests.scoring.in_process import scored
from tests.scoring.runs import results_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ASSIGNORS = ("high_availability", "sticky")
FAMILIES = (Generated("streams_4x40", 3, 11), Generated("rack_loss", 2, 5))


def written(
    spark: SparkSession,
    out: Path,
    assignors: tuple[str, ...] = ASSIGNORS,
    on_progress: Callable[[Progress], None] = lambda _progress: None,
    *,
    resume: bool = False,
    table: str | None = None,
) -> tuple[Any, int]:
    registry, given = discover(), config_sources(environ={}, start=out.parent)
    with plan_sources(FAMILIES, registry, given.above) as plan:
        competing = found_contenders(registry, assignors, kind=plan.kind)
        run = ScoringRun(registry, competing, plan, given)
        output = PathOutput(spark, out.as_uri(), resume, table)
        return run_on_path(run, OnSpark(spark), output, on_progress)


def rows_in_order(out: Path) -> pa.Table:
    """The rows as they lie: by block, by place."""
    tables = [pq.ParquetFile(file).read() for file in (out / "rows").glob("*/*.parquet")]
    blocks = [set(table["block"].to_pylist()) for table in tables]
    assert all(len(numbers) == 1 for numbers in blocks)
    assert len(set.union(*blocks)) == len(tables)
    return pa.concat_tables(sorted(tables, key=lambda table: table["block"][0].as_py()))


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part for each item."""
    monkeypatch.setattr(blocks, "BLOCK_ITEMS", 1)
    monkeypatch.setattr(blocks, "PART_BLOCKS", 1)


@pytest.mark.slow
def test_rows_and_figures_are_those_of_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    here = scored(FAMILIES, ASSIGNORS, tmp_path / "here")
    summary, every = written(spark, tmp_path / "there")
    assert every == 1
    table = results_of(tmp_path / "here")
    found = rows_in_order(tmp_path / "there").select(table.column_names)
    assert found.cast(table.schema).equals(table)
    published = json.loads((tmp_path / "there" / "summary.json").read_text())
    assert published["results"] == here["results"]
    assert len(summary.results.assignors) == 2
    digests = [json.loads((tmp_path / name / "manifest.json").read_text())["outputs"] for name in ("here", "there")]
    assert digests[0] == digests[1]
    assert "<html" in (tmp_path / "there" / "report.html").read_text()[:200]


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_rows_are_written_to_a_table_and_resumed_there(spark: SparkSession, tmp_path: Path) -> None:
    """A table of Spark's own catalog; Delta and Iceberg have the same calls."""

    def stop(progress: Progress) -> None:
        if progress.items == 2:
            raise StoppedError

    out, table = tmp_path / "out", "nights.scores"
    spark.sql(f"CREATE DATABASE nights LOCATION '{tmp_path / 'nights.db'}'")
    try:
        with pytest.raises(StoppedError):
            written(spark, out, on_progress=stop, table=table)
        with pytest.raises(PathError, match=r"the table nights\.scores exists: choose another --table"):
            written(spark, tmp_path / "other", table=table)
        written(spark, out, resume=True, table=table)
        expected = scored(FAMILIES, ASSIGNORS, tmp_path / "here")
        rows = spark.table(table).toArrow().sort_by([(key, "ascending") for key in KEY_NAMES])
        here = results_of(tmp_path / "here")
        assert rows.select(here.column_names).cast(here.schema).equals(here)
        assert json.loads((out / "summary.json").read_text())["results"] == expected["results"]
        assert not (out / "rows").exists()
    finally:
        spark.sql("DROP DATABASE nights CASCADE")


class StoppedError(Exception):
    pass


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_a_stopped_run_is_resumed_with_its_missing_parts(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def stop(progress: Progress) -> None:
        if progress.items == 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        written(spark, out, on_progress=stop)
    done = {path: path.stat().st_mtime_ns for path in (out / "rows").glob("*/*.parquet")}
    assert len(done) == 2
    # A part that was written and not noted is written again.
    leftover = out / "rows" / "part=00002"
    leftover.mkdir()
    (leftover / "part-00000-half.parquet").write_bytes(b"half")
    with pytest.raises(PathError, match="holds a run: continue it with --resume"):
        written(spark, out)
    with pytest.raises(ResumeError, match="assignors: "):
        written(spark, out, ("sticky",), resume=True)
    seen: list[int] = []
    written(spark, out, on_progress=lambda progress: seen.append(progress.items), resume=True)
    assert seen == [1, 2, 3, 4, 5]
    assert {path: path.stat().st_mtime_ns for path in done} == done
    whole = tmp_path / "whole"
    scored(FAMILIES, ASSIGNORS, whole)
    table = results_of(whole)
    assert rows_in_order(out).select(table.column_names).cast(table.schema).equals(table)


@pytest.mark.slow
def test_figures_of_a_large_run_are_those_of_every_nth_item(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(path_output, "MOST_ROWS", 40)
    summary, every = written(spark, tmp_path / "out")
    rows = rows_in_order(tmp_path / "out")
    assert every == -(-rows.num_rows // 40)
    assert summary.results.rows == sum(item % every == 0 for item in rows["item"].to_pylist())


@pytest.mark.slow
def test_a_path_that_spark_does_not_know_is_refused_with_its_cause(spark: SparkSession) -> None:
    with pytest.raises(PathError) as raised:
        PathOutput(spark, "s3a://bucket/out").open(lambda _salt: {})
    assert "S3AFileSystem" in str(raised.value)
    assert "spark.jars.packages" in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_paths_of_spark_are_urls() -> None:
    assert [is_spark_path(text) for text in ("s3a://b/x", "file:///x", "hdfs://h:1/x")] == [True] * 3
    assert [is_spark_path(text) for text in ("scores", "/x/y", "C:\\x", "a b://c", "://x")] == [False] * 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--engine", "local", "--out", "s3a://b/x"], "give --out a path without ://"),
        (["--spark-conf", "a=b"], "--spark-conf is for an --out that Spark writes"),
        (["--table", "scores"], "--table is for an --out that Spark writes"),
        (["--format", "delta", "--out", "s3a://b/x"], "give --table NAME, too"),
        (["--spark-conf", "a", "--out", "s3a://b/x"], "expected KEY=VALUE"),
    ],
)
def test_options_of_a_path_are_checked(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    with pytest.raises(SystemExit) as left:
        main(["score", "--families", "streams_4x40", *words])
    assert left.value.code == 2
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())
