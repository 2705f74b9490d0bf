"""Whole runs on a real Spark session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from assignment_api.plugins import PluginLoadError, UnknownPluginError, discover
from assignment_api.plugins.selection import config_sources
from assignor_lab.run import run_scoring
from assignor_lab.scenarios import DocumentFormatError, canonical_line
from assignor_lab.scoring import Generated, score
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.engine import blocks
from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.output.summary_file import read_summary
from assignor_lab.scoring.output.tables import KEY_NAMES, rows_schema
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.spark import engine
from assignor_lab.scoring.spark.engine import OnSpark
from assignor_lab.scoring.terms import ScoringRun
from tests.scenarios.documents import streams_document
from tests.scoring.runs import NAMED, results_bytes, results_of, run, run_metrics_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.long]

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
HISTORIES = (Generated("streams_4x40", 6, 3), Generated("streams_histories", 3, 3))
PAIR = ("high_availability", "sticky")


@pytest.fixture(scope="module")
def out(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "out"
    run(spark, HISTORIES, PAIR, folder)
    return folder


def test_there_is_a_row_for_every_state_and_assignor_sorted_by_key(out: Path) -> None:
    keys = [tuple(row.values()) for row in results_of(out).select(KEY_NAMES).to_pylist()]
    assert keys == [(item, number, assignor) for item in range(9) for number in range(8) for assignor in PAIR]
    assert run_metrics_of(out).select(KEY_NAMES).to_pylist() == results_of(out).select(KEY_NAMES).to_pylist()


def test_no_row_of_a_generated_history_failed(out: Path) -> None:
    assert results_of(out)["error_type"].null_count == 9 * 8 * 2


def test_the_summary_is_what_the_report_reads(out: Path) -> None:
    summary = read_summary(out / "summary.json")
    assert summary.results.states == 72
    assert summary.results.rows == 144
    assert summary.results.failed_rows == 0
    assert summary.results.seed == 3
    assert [source.states for source in summary.results.sources] == [48, 24]
    assert summary.results.ranking.states == 72
    assert {place.assignor for place in summary.results.ranking.overall} == set(PAIR)
    assert "<html" in (out / "report.html").read_text(encoding="utf-8")


def test_worst_cases_are_shown_in_full(out: Path) -> None:
    placements = read_summary(out / "summary.json").results.placements
    assert placements
    assert {placement.chosen for placement in placements} == {"worst"}
    for placement in placements:
        assert len(placement.tasks) == len({task.id for task in placement.tasks})
        assert any(after.assignment is not None for after in placement.after)


def test_how_the_work_is_cut_shows_in_no_byte(
    spark: SparkSession, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_ITEMS", 2)
    monkeypatch.setattr(blocks, "PART_BLOCKS", 2)
    again = run(spark, HISTORIES, tuple(reversed(PAIR)), tmp_path / "out")
    assert results_bytes(tmp_path / "out") == results_bytes(out)
    before = json.loads((out / "summary.json").read_text(encoding="utf-8"))["results"]
    for key in ("aggregates", "assignors"):
        order = {name: number for number, name in enumerate(PAIR)}
        again["results"][key].sort(key=lambda entry: order[entry.get("assignor") or entry.get("name")])
    assert again["results"]["aggregates"] == before["aggregates"]
    assert again["results"]["placements"][0]["tasks"] == before["placements"][0]["tasks"]


def test_executors_that_do_not_see_the_folder_send_their_rows_and_it_is_reported_once(
    spark: SparkSession, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    monkeypatch.setattr(OnSpark, "_all_see", lambda *_: False)
    monkeypatch.setattr(engine, "master_of", lambda _spark: "spark://elsewhere:7077")
    monkeypatch.setattr(blocks, "PART_BLOCKS", 2)
    monkeypatch.setattr(blocks, "MOST_PARTS", 2)
    registry, config = discover(), config_sources(environ={}, start=tmp_path)
    with plan_sources(HISTORIES, registry, config.above) as plan, OutputFolder(tmp_path / "out") as folder:
        competing = found_contenders(registry, PAIR)
        run_scoring(ScoringRun(registry, competing, plan, config), OnSpark(spark, on_note=notes.append), folder)
    assert results_bytes(tmp_path / "out") == results_bytes(out)
    assert ["do not see the output folder" in note for note in notes] == [True]


def test_the_same_run_again_is_equal_to_the_byte(spark: SparkSession, out: Path, tmp_path: Path) -> None:
    again = run(spark, HISTORIES, PAIR, tmp_path / "out")
    assert results_bytes(tmp_path / "out") == results_bytes(out)
    assert json.dumps(again["results"]) == json.dumps(
        json.loads((out / "summary.json").read_text(encoding="utf-8"))["results"]
    )


def test_bad_plugins_cost_their_own_rows_only(spark: SparkSession, out: Path, tmp_path: Path) -> None:
    bad = {
        "Raises": "RuntimeError",
        "Leaves": "SystemExit",
        "Garbage": "InvalidAnswerError",
        "Mutates": "InputMutatedError",
    }
    names = [NAMED + name for name in bad]
    missing = "tests.scoring.no_such_module:Assignor"
    summary = run(spark, HISTORIES, [names[0], PAIR[0], *names[1:], missing, PAIR[1]], tmp_path / "out")
    table = results_of(tmp_path / "out")
    rows = table.to_pylist()
    assert [row for row in rows if row["assignor"] in PAIR] == results_of(out).to_pylist()
    for name, error in bad.items():
        own = [row["error_type"] for row in rows if row["assignor"] == NAMED + name]
        assert own == [error] * 72
    standing = {entry["name"]: (entry["status"], entry["rows"]) for entry in summary["results"]["assignors"]}
    assert standing == {
        **dict.fromkeys(PAIR, ("scored", 72)),
        **dict.fromkeys(names, ("failed", 72)),
        missing: ("not_loaded", 0),
    }
    assert {place["assignor"] for place in summary["results"]["ranking"]["overall"]} == set(PAIR)
    assert summary["results"]["failed_rows"] == 4 * 72


def test_high_availability_decides_as_kafka_did_in_a_captured_group(spark: SparkSession, tmp_path: Path) -> None:
    config = config_sources(CAPTURES / "tagged" / "application.properties", environ={}, start=tmp_path)
    logs = sorted((CAPTURES / "tagged").glob("*.log.gz"))
    summary = run(spark, logs, ["high_availability"], tmp_path / "out", config)
    results = summary["results"]
    assert results["agreement"] == [
        {
            "assignor": "high_availability",
            "compared": 24,
            "equal": 24,
            "different": 0,
            "failed": 0,
            "not_comparable": 0,
            "caveats": [],
            "first_difference": None,
        }
    ]
    assert [assignor["name"] for assignor in results["assignors"]] == ["high_availability", "kafka"]
    rows = results_of(tmp_path / "out").to_pylist()
    ours, kafkas = ([row for row in rows if row["assignor"] == name] for name in ("high_availability", "kafka"))
    for mine, theirs in zip(ours, kafkas, strict=True):
        differing = {key for key in mine if mine[key] != theirs[key]}
        assert differing == {"assignor", "equals_observed"}
    assert len(results["placements"]) == 24
    assert {placement["chosen"] for placement in results["placements"]} == {"captured"}


def test_without_racks_a_rack_aware_group_is_not_comparable_and_in_no_figure(
    spark: SparkSession, tmp_path: Path
) -> None:
    config = config_sources(CAPTURES / "orders-2" / "application.properties", environ={}, start=tmp_path)
    logs = sorted((CAPTURES / "orders-2").glob("*.log.gz"))
    summary = run(spark, logs, ["high_availability"], tmp_path / "out", config)
    results = summary["results"]
    agreement = results["agreement"][0]
    assert (agreement["compared"], agreement["not_comparable"]) == (0, 48)
    (told,) = results["not_comparable"]
    assert (told["states"], told["assignors"]) == (48, ["high_availability"])
    assert "--racks" in told["reason"]
    assert {each["assignor"] for each in results["aggregates"] if each["n"]} == {"kafka"}
    # Without racks the recorded decisions are not reproduced: there is no verdict.
    assert results["ranking"]["overall"] == []
    of_state = next(each for each in results["headline"]["figures"] if each["figure"] == "restored")["of"]
    assert [each["assignor"] for each in of_state] == ["kafka"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.index("Not comparable: high_availability in all 48 decisions") < page.index("In short")


def test_a_notebook_gets_the_same_rows_as_a_data_frame(spark: SparkSession, out: Path) -> None:
    frame = score(spark, HISTORIES, PAIR)
    names = results_of(out).column_names
    assert frame.columns == rows_schema(names[names.index("metric_errors") + 1 :]).names
    rows = frame.orderBy(*KEY_NAMES).toArrow().select(results_of(out).column_names).to_pylist()
    assert rows == results_of(out).to_pylist()


def test_a_notebook_can_change_the_configuration(spark: SparkSession) -> None:
    frame = score(spark, [Generated("streams_4x40", 1)], ["sticky"], {"num.standby.replicas": 0})
    held = (
        frame.where("round = 0")
        .select("warmups_in_flight", "standbys_missing", "standby_load_per_process_range")
        .first()
    )
    assert held is not None
    assert tuple(held) == (0.0, 0.0, 0.0)


def test_a_notebook_hears_of_mistakes_at_once(spark: SparkSession) -> None:
    with pytest.raises(UnknownPluginError, match="did you mean"):
        score(spark, [Generated("streams_4x40", 1)], ["stick"])
    with pytest.raises(PluginLoadError, match="no_such"):
        score(spark, [Generated("streams_4x40", 1)], ["no_such:Assignor"])
    with pytest.raises(DocumentFormatError, match="nowhere"):
        score(spark, ["nowhere.jsonl"], ["sticky"])


def test_statistics_are_in_the_table_for_readers_that_skip_row_groups(out: Path) -> None:
    group = pq.ParquetFile(out / "results.parquet").metadata.row_group(0)
    assert group.column(0).statistics.max == 8


def test_one_path_and_one_name_are_a_list_of_one(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(canonical_line(streams_document()))
    for source in (file, str(file)):
        assert [row["assignor"] for row in score(spark, source, "sticky").collect()] == ["sticky"]
