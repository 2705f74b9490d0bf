from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assignor_lab.report import render_report
from assignor_lab.scoring import FrameError, Generated, RunSummary, score, summary
from assignor_lab.scoring.output.summary_file import summary_of
from tests.scoring.in_process import scored

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
HISTORIES = (Generated("streams_histories", 3, 5), Generated("streams_4x40", 1, 9))
PAIR = ("high_availability", "sticky")
#: Parts that rows lack.
UNTOLD = {
    "placements", "placements_left_out", "groups", "title", "sources", "config", "versions", "timelines", "histories",
}  # fmt: skip


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "out"
    scored(HISTORIES, PAIR, folder)
    return folder


def figures(found: Any) -> dict[str, Any]:
    """The part of a summary that follows from rows, without the places of single states."""
    results = {key: value for key, value in found["results"].items() if key not in UNTOLD}
    results["assignors"] = [(each["name"], each["rows"], each["status"]) for each in results["assignors"]]
    results["worst_cases"] = [{**each, "replay": None} for each in results["worst_cases"]]
    return json.loads(json.dumps(results))  # type: ignore[no-any-return]


def test_the_table_of_a_run_has_the_figures_of_its_summary_file(out: Path) -> None:
    written = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    for frame in (pq.read_table(out / "results.parquet"), pd.read_parquet(out / "results.parquet")):
        assert figures(summary(frame)) == figures(written)


def test_the_frame_of_score_remembers_the_run_through_sparks_operations(spark: SparkSession, out: Path) -> None:
    sources = (Generated("streams_4x40", 1, 9), Generated("scale_out", 1, 4))
    frame = score(spark, sources, ("sticky", "high_availability"), {"num.standby.replicas": 1}).cache()
    found = summary(frame)
    results = found["results"]
    assert [each["name"] for each in results["assignors"]] == ["sticky", "high_availability"]
    assert results["headline"]["baseline"] == "sticky"
    assert [(each["name"], each["kind"]) for each in results["sources"]] == [
        ("streams_4x40", "family"),
        ("scale_out", "family"),
    ]
    assert [(each["key"], each["value"]) for each in results["config"]] == [("num.standby.replicas", "1")]
    assert results["assignors"][0]["version"] is not None
    assert [each["n"] for each in found["run_metrics"]["assign_ms"]] == [results["states"]] * 2
    assert found["run_metrics"]["assign_ms"][0]["median"] > 0
    again = summary(frame.where("source = 0").orderBy("assignor").drop("assign_ms"))
    assert [each["name"] for each in again["results"]["assignors"]] == ["sticky", "high_availability"]
    assert again["results"]["states"] == 8
    assert again["run_metrics"]["assign_ms"][0]["n"] == 0
    frame.unpersist()


def test_sparks_reader_of_the_tables_gives_the_same(spark: SparkSession, out: Path) -> None:
    path = out / "results.parquet"
    assert figures(summary(spark.read.parquet(str(path)))) == figures(summary(pq.read_table(path)))


def test_captured_decisions_are_compared_with_kafkas_own(tmp_path: Path) -> None:
    logs = sorted((CAPTURES / "tagged").glob("*.log.gz"))
    # Without the group's own configuration its decisions are not reproduced: then there is no verdict.
    written = scored(logs, PAIR, tmp_path / "out", config=CAPTURES / "tagged" / "application.properties")
    found = summary(pq.read_table(tmp_path / "out" / "results.parquet"))
    assert found["results"]["headline"]["baseline"] == "kafka"
    assert figures(found) == figures(written)


@pytest.mark.parametrize("kind", ["connect_histories", "group_histories", "episode_crash"])
def test_the_kind_of_group_is_seen_by_the_columns(kind: str, tmp_path: Path) -> None:
    assignors = {
        "connect_histories": ("connect_eager", "connect_incremental"),
        "group_histories": ("group_sticky",),
        "episode_crash": ("sticky",),
    }
    written = scored([Generated(kind, 2)], assignors[kind], tmp_path / "out")
    assert figures(summary(pq.read_table(tmp_path / "out" / "results.parquet"))) == figures(written)


def test_a_baseline_can_be_named(out: Path) -> None:
    table = pq.read_table(out / "results.parquet")
    found = summary(table, baseline="sticky")["results"]
    assert found["headline"]["baseline"] == found["baseline"] == "sticky"
    assert {each["assignor"] for each in found["differences"]} == {"high_availability"}
    with pytest.raises(FrameError, match="the frame has no assignor stick: it has high_availability, sticky"):
        summary(table, baseline="stick")


def test_a_part_of_the_rows_and_of_the_columns_will_do(out: Path) -> None:
    table = pq.read_table(out / "results.parquet")
    part = table.slice(1, 20).select(["item", "round", "assignor", "error_type", "stateful_actives_moved"])
    found = summary(part)["results"]
    assert found["rows"] == 20
    assert {each["metric"] for each in found["aggregates"]} == {"stateful_actives_moved"}


def test_a_frame_of_an_older_release_lacks_what_is_not_known(out: Path) -> None:
    table = pq.read_table(out / "results.parquet").drop_columns(["error_traceback", "remarks", "settings_difference"])
    assert figures(summary(table)) == figures(summary(pq.read_table(out / "results.parquet")))


def test_a_frame_of_an_older_version_is_refused(out: Path) -> None:
    table = pq.read_table(out / "results.parquet")
    with pytest.raises(FrameError, match="a table of version 1, and this release reads version 2: score again"):
        summary(table.replace_schema_metadata({"assignor_lab.results": "1"}))
    former = [{"process_load_excess": "process_load"}.get(name, name) for name in table.column_names]
    renamed = table.rename_columns(former).replace_schema_metadata(None)
    with pytest.raises(FrameError, match=r"column process_load .* version 2 calls it process_load_excess: score again"):
        summary(renamed)


def test_what_is_no_frame_of_a_run_is_said_with_what_to_do(out: Path) -> None:
    table = pq.read_table(out / "results.parquet")
    with pytest.raises(FrameError, match=r"no column item, round, assignor, error_type .*give the frame of"):
        summary(pa.table({"a": [1]}))
    with pytest.raises(FrameError, match="a dict is no frame"):
        summary({"item": [1]})
    with pytest.raises(FrameError, match="no rows"):
        summary(table.slice(0, 0))
    with pytest.raises(FrameError, match="no column of a metric"):
        summary(table.select(["item", "round", "assignor", "error_type"]))
    with pytest.raises(FrameError, match="item 0, round 0, assignor high_availability is in the frame 2 times"):
        summary(pa.concat_tables([table, table]))
    wrong = table.set_column(table.column_names.index("round"), "round", pa.array(["x"] * table.num_rows))
    with pytest.raises(FrameError, match="column round of the frame"):
        summary(wrong)
    unnamed = table.set_column(table.column_names.index("assignor"), "assignor", pa.nulls(table.num_rows, pa.string()))
    with pytest.raises(FrameError, match="column assignor of the frame has rows without a value"):
        summary(unnamed)


def test_it_is_a_summary_to_the_report_and_to_json(out: Path) -> None:
    found = summary(pq.read_table(out / "results.parquet"))
    assert isinstance(found, RunSummary)
    assert set(found) == {"format", "results", "run_metrics"}
    assert "<html" in render_report(summary_of(found.document))
    assert json.loads(json.dumps(dict(found)))["results"]["states"] == 32


def test_it_shows_itself_as_tables_without_markup_of_names(out: Path) -> None:
    table = pq.read_table(out / "results.parquet")
    names = ["<img src=x onerror=alert(1)>" if name == "sticky" else name for name in table["assignor"].to_pylist()]
    table = table.set_column(table.column_names.index("assignor"), "assignor", pa.array(names))
    page = summary(table)._repr_html_()
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<img" not in page
    assert page.count("<caption") == 4
    assert "Records to restore, standbys included: in offsets, less is better" in page
    assert "Not measured here: task-seconds unavailable" in page
