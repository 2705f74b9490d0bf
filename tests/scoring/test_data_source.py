"""The data source of Spark, found by its name alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assignor_lab.scenarios import Place, read_scenarios, scenario_from_document
from assignor_lab.scoring import Generated
from assignor_lab.scoring.spark.data_source.content import Content
from assignor_lab.scoring.spark.data_source.options import DataSourceError
from assignor_lab.scoring.spark.data_source.scenario_rows import SCENARIO_SCHEMA
from assignor_lab.scoring.spark.data_source.source import AssignorSource, _content_of
from tests.scoring.in_process import scored

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

CAPTURES = Path(__file__).parents[1] / "data" / "captures"


def rows_of(**options: str) -> list[dict[str, Any]]:
    """All rows, read in this process as Spark reads them in others."""
    source = AssignorSource(options)
    reader = source.reader(source.schema())
    batches: list[Any] = [batch for part in reader.partitions() for batch in reader.read(part)]
    return [row for batch in batches for row in batch.to_pylist()]


def content_of(**options: str) -> Content:
    return _content_of(options)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "out"
    scored([Generated("streams_4x40", 2, 3)], ("high_availability", "sticky"), folder, raw=True)
    return folder


def test_spark_finds_it_by_name(spark: SparkSession, out: Path) -> None:
    histories = spark.read.format("assignor").option("family", "scale_out").option("count", 5).option("seed", 7).load()
    assert histories.columns == SCENARIO_SCHEMA.names
    found = histories.orderBy("seed").collect()
    assert [(row["family"], row["seed"], row["round"]) for row in found] == [("scale_out", 7 + n, 0) for n in range(5)]
    results = spark.read.format("assignor").load(str(out))
    assert results.columns == pq.read_schema(out / "results.parquet").names
    assert results.orderBy("item", "round", "assignor").toArrow().to_pylist() == (
        pq.read_table(out / "results.parquet").to_pylist()
    )
    with pytest.raises(
        Exception, match=r"DataSourceError: format assignor has no option 'famly'; did you mean 'family'"
    ):
        spark.read.format("assignor").option("famly", "x").load()


def test_seeds_travel_and_not_states() -> None:
    content = content_of(family="streams_histories", count="1000000", partitions="3", seed="10")
    assert content.parts() == [[10, 333334], [333344, 333333], [666677, 333333]]


@pytest.mark.slow
def test_each_first_round_is_that_of_the_seed() -> None:
    found = rows_of(family="streams_4x40", count="5", seed="3")
    assert [row["seed"] for row in found] == [3, 4, 5, 6, 7]
    assert [(row["kind"], row["tasks"], row["clients"]) for row in found] == [("streams", 40, 4)] * 5
    assert len({row["document"] for row in found}) == 5
    assert rows_of(family="streams_4x40", count="1", seed="5")[0]["document"] == found[2]["document"]
    document = json.loads(found[0]["document"])
    assert scenario_from_document(document, Place("row")).id == found[0]["id"]


@pytest.mark.slow
def test_with_an_assignor_a_history_goes_on_from_its_answers() -> None:
    found = rows_of(family="streams_4x40", count="2", seed="3", assignor="sticky")
    assert [(row["seed"], row["round"]) for row in found] == [(seed, number) for seed in (3, 4) for number in range(8)]
    other = rows_of(family="streams_4x40", count="1", seed="3", assignor="high_availability")
    assert other[0]["document"] == found[0]["document"]
    assert other[3]["document"] != found[3]["document"]


@pytest.mark.slow
@pytest.mark.parametrize("family", ["connect_histories", "group_histories", "episode_crash"])
def test_families_of_all_kinds_are_read(family: str) -> None:
    (row,) = rows_of(family=family, count="1")
    assert row["kind"] == {"connect_histories": "connect", "group_histories": "streams-group"}.get(
        family, "streams-episode"
    )
    assert row["clients"] > 0
    assert row["document"].startswith('{"format":1')


def test_scenario_files_are_read_each_by_itself(tmp_path: Path) -> None:
    rows = rows_of(family="streams_4x40", count="3")
    for name, part in (("a.jsonl", rows[:2]), ("b.jsonl", rows[2:])):
        (tmp_path / name).write_text("".join(f"{row['document']}\n" for row in part), encoding="utf-8")
    assert len(content_of(path=str(tmp_path)).parts()) == 2
    found = rows_of(path=str(tmp_path))
    assert [(Path(row["file"]).name, row["line"]) for row in found] == [("a.jsonl", 1), ("a.jsonl", 2), ("b.jsonl", 1)]
    assert [row["document"] for row in found] == [row["document"] for row in rows]
    several = rows_of(paths=json.dumps([str(tmp_path / "b.jsonl"), str(tmp_path / "a.jsonl")]))
    assert [row["id"] for row in several] == [rows[2]["id"], rows[0]["id"], rows[1]["id"]]
    assert rows_of(path=f"file://{tmp_path}/b.jsonl")[0]["id"] == rows[2]["id"]


def test_logs_are_imported_with_the_applications_configuration() -> None:
    folder = CAPTURES / "tagged"
    logs = json.dumps([str(log) for log in sorted(folder.glob("*.log.gz"))])
    found = rows_of(paths=logs, config=str(folder / "application.properties"))
    assert len(found) == 24
    assert {row["group"] for row in found} == {"tagged-classic"}
    assert [row["generation"] for row in found] == sorted(row["generation"] for row in found)
    assert all(row["time_ms"] > 1_600_000_000_000 for row in found)
    assert '"rack.aware.assignment.tags"' in found[0]["document"]


def test_a_column_of_documents_is_what_score_takes(tmp_path: Path) -> None:
    (row, *_) = rows_of(family="streams_4x40", count="1")
    file = tmp_path / "one.jsonl"
    file.write_text(row["document"] + "\n", encoding="utf-8")
    assert [scenario.id for scenario in read_scenarios(file)] == [row["id"]]


@pytest.mark.slow
@pytest.mark.parametrize("table", ["results", "run_metrics", "answers"])
def test_tables_are_what_is_on_disk(out: Path, table: str) -> None:
    file = out / f"{table}.parquet"
    assert rows_of(path=str(out), table=table) == pq.read_table(file).to_pylist()
    assert rows_of(path=str(file), table=table) == pq.read_table(file).to_pylist()


@pytest.mark.slow
def test_a_table_in_parts_is_read_part_by_part(out: Path, tmp_path: Path) -> None:
    whole = pq.read_table(out / "results.parquet")
    folder = tmp_path / "results.parquet"
    folder.mkdir()
    pq.write_table(whole.slice(0, 20), folder / "part-00000.parquet", row_group_size=3)
    pq.write_table(whole.slice(20), folder / "part-00001.parquet")
    assert len(content_of(path=str(tmp_path)).parts()) == 3
    assert rows_of(path=str(tmp_path)) == whole.to_pylist()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "name one source"),
        ({"family": "streams_4x40", "path": "x"}, "not both"),
        ({"family": "streams_4x40", "count": "0"}, "option count: 0 is not from 1 to"),
        ({"family": "streams_4x40", "count": "many"}, "option count: 'many' is no whole number"),
        ({"family": "streams_4x40", "seed": str(2**63)}, "option seed: 9223372036854775808 is not from"),
        ({"family": "streams_4x40", "seed": "9" * 10_000}, "option seed: 9999"),
        ({"family": "streams_4x40", "table": "results"}, "option table is for a path"),
        ({"path": "x", "seed": "1"}, "option seed is for histories of a family"),
        ({"path": "x", "table": "scores"}, "option table: 'scores' is none of scenarios, results"),
        ({"paths": "[1]"}, "option paths is no JSON list of texts"),
        ({"path": "s3://bucket/x"}, "no s3://"),
        ({"path": "/nowhere/at/all.jsonl"}, "there is no such file here"),
        ({"path": "/nowhere/at/all", "table": "results"}, "there is no such folder here"),
        ({"Famly": "x"}, "no option 'famly'"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_option(options: dict[str, str], told: str) -> None:
    with pytest.raises(DataSourceError) as caught:
        rows_of(**options)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 500


def test_what_is_not_installed_is_said_when_the_schema_is_asked_for() -> None:
    with pytest.raises(Exception, match="unknown scenario family 'streams_4x4'; did you mean 'streams_4x40'"):
        AssignorSource({"family": "streams_4x4"}).schema()
    with pytest.raises(Exception, match="did you mean"):
        AssignorSource({"family": "streams_4x40", "assignor": "stick"}).schema()


def test_a_line_that_is_no_scenario_is_named_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"format": 1, "kind": "streams"}\n', encoding="utf-8")
    with pytest.raises(Exception, match=r"bad\.jsonl, line 1, id: required key"):
        rows_of(path=str(file))


@pytest.mark.slow
def test_folders_of_no_finished_run_say_what_to_do(out: Path, tmp_path: Path) -> None:
    stopped = tmp_path / "stopped"
    (stopped / ".assignor-score-0123.tmp").mkdir(parents=True)
    former = tmp_path / "former"
    (former / "scores.parquet").mkdir(parents=True)
    without = tmp_path / "without"
    without.mkdir()
    (without / "results.parquet").write_bytes((out / "results.parquet").read_bytes())
    torn = tmp_path / "torn"
    torn.mkdir()
    (torn / "results.parquet").write_bytes(b"PAR1 and no more")
    foreign, older, newer = (tmp_path / name for name in ("foreign", "older", "newer"))
    versions = ((older, {"assignor_lab.results": "1"}), (newer, {"assignor_lab.results": "3"}))
    for folder, metadata in ((foreign, {}), *versions):
        folder.mkdir()
        pq.write_table(pa.table({"item": [1]}).replace_schema_metadata(metadata), folder / "results.parquet")
    for options, told in (
        ({"path": str(stopped)}, "--resume"),
        ({"path": str(former)}, "scores.parquet of release 0.1.0"),
        ({"path": str(without), "table": "answers"}, "--keep-assignments"),
        ({"path": str(without), "table": "run_metrics"}, "no such table"),
        ({"path": str(torn)}, "no Parquet file"),
        ({"path": str(foreign)}, "no table results of"),
        ({"path": str(older)}, r"results\.parquet: version 1 of the table, .* reads version 2: score again, or use"),
        ({"path": str(newer)}, "version 3 of the table"),
    ):
        with pytest.raises(DataSourceError, match=told):
            rows_of(**options)


@pytest.mark.slow
def test_its_columns_are_its_own(out: Path) -> None:
    from pyspark.sql.types import StructType

    with pytest.raises(DataSourceError, match=r"without \.schema"):
        AssignorSource({"path": str(out)}).reader(StructType().add("item", "string"))
