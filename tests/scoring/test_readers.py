"""The printed path of a table opens it in pandas, DuckDB and Spark, whether it is a file or a folder of parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest

from assignor_lab.scoring.output import tables
from tests.scoring.commands import command

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = {"Results": "results.parquet", "Times": "run_metrics.parquet", "Answers": "answers.parquet"}
RUN = ["--families", "streams_4x40", "--count", "2", "--seed", "11", "--assignor", "sticky", "--keep-assignments"]


def with_duckdb(path: str) -> list[tuple[int, int]]:
    return duckdb.execute(f"SELECT item, round FROM '{path}' ORDER BY ALL").fetchall()


def with_pandas(path: str) -> list[tuple[int, int]]:
    frame = pd.read_parquet(path)
    return sorted(zip(frame["item"], frame["round"], strict=True))


@pytest.mark.parametrize("part_rows", [tables.PART_ROWS, 6], ids=["a file", "a folder"])
def test_every_reader_opens_each_table_by_the_printed_path(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part_rows: int
) -> None:
    monkeypatch.setattr(tables, "PART_ROWS", part_rows)
    monkeypatch.setattr(tables, "ROW_GROUP_ROWS", min(part_rows, tables.ROW_GROUP_ROWS))
    done = command(tmp_path, *RUN, spark=spark)
    assert done.returncode == 0, done.stderr
    printed = dict(re.findall(r"^(\w+): (.+\.parquet)$", done.stdout, re.MULTILINE))
    assert {name: Path(path).name for name, path in printed.items()} == TABLES

    def with_spark(path: str) -> list[tuple[int, int]]:
        return sorted((row["item"], row["round"]) for row in spark.read.parquet(path).select("item", "round").collect())

    readers: list[Callable[[str], list[tuple[int, int]]]] = [with_pandas, with_duckdb, with_spark]
    for path in printed.values():
        assert Path(path).is_dir() == (part_rows == 6)
        for read in readers:
            assert read(path) == [(item, number) for item in (0, 1) for number in range(8)]
        # The tables share no data: each has its own columns.
        columns = [name for name, *_ in duckdb.execute(f"DESCRIBE SELECT * FROM '{path}'").fetchall()]
        assert columns == pq.read_schema(tables.parts_of(Path(path))[0]).names
