"""The output folder: complete or unchanged."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import attrs
import pyarrow.parquet as pq
import pytest

from assignor_lab.scoring.output import folder as output
from assignor_lab.scoring.output import tables
from assignor_lab.scoring.output.folder import ForeignOutputError, OutputFolder
from assignor_lab.scoring.output.summary_file import summary_document, summary_of
from assignor_lab.scoring.output.tables import TableWriter
from tests.report.summaries import tagged
from tests.scoring.tables import SCHEMA, rows

SUMMARY = summary_of(tagged())


def report(path: Path, text: str) -> None:
    path.write_text(text)


def finish(folder: Path, count: int) -> None:
    with OutputFolder(folder) as opened:
        with TableWriter(opened.table(output.RESULTS), SCHEMA) as writer:
            writer.write(rows(0, count))
        opened.finish(SUMMARY, lambda path: report(path, f"report of {count}"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_everything_is_there_at_the_end_and_nothing_else(tmp_path: Path) -> None:
    finish(tmp_path / "new" / "out", 3)
    assert names(tmp_path / "new" / "out") == ["report.html", "results.parquet", "summary.json"]


def test_a_second_run_replaces_the_first(tmp_path: Path) -> None:
    finish(tmp_path, 3)
    finish(tmp_path, 5)
    assert pq.read_table(tmp_path / output.RESULTS).num_rows == 5
    assert (tmp_path / "report.html").read_text() == "report of 5"
    assert names(tmp_path) == ["report.html", "results.parquet", "summary.json"]


def test_folders_are_replaced_where_the_system_cannot_swap_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_exchange", lambda _first, _second: False)
    finish(tmp_path, 3)
    finish(tmp_path, 5)
    assert pq.read_table(tmp_path / output.RESULTS).num_rows == 5


def test_a_table_may_change_between_a_file_and_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for rows_of_part in (tables.PART_ROWS, 2, tables.PART_ROWS):
        monkeypatch.setattr(tables, "PART_ROWS", rows_of_part)
        monkeypatch.setattr(tables, "ROW_GROUP_ROWS", min(rows_of_part, tables.ROW_GROUP_ROWS))
        finish(tmp_path, 5)
        assert (tmp_path / output.RESULTS).is_dir() == (rows_of_part == 2)
        assert pq.read_table(tmp_path / output.RESULTS).num_rows == 5
        assert names(tmp_path) == ["report.html", "results.parquet", "summary.json"]


def test_tables_that_a_run_does_not_write_do_not_stay_from_the_one_before(tmp_path: Path) -> None:
    with OutputFolder(tmp_path) as opened:
        for name in (output.RESULTS, output.ANSWERS):
            TableWriter(opened.table(name), SCHEMA).__exit__(None, None, None)
        opened.finish(SUMMARY, None, {"format": 2})
    assert names(tmp_path) == ["answers.parquet", "manifest.json", "results.parquet", "summary.json"]
    finish(tmp_path, 5)
    assert names(tmp_path) == ["report.html", "results.parquet", "summary.json"]


def test_the_tables_of_the_first_release_go_with_its_run(tmp_path: Path) -> None:
    (tmp_path / "scores.parquet" / "results").mkdir(parents=True)
    (tmp_path / "scores.parquet" / "run_metrics").mkdir()
    with OutputFolder(tmp_path):
        pass
    assert names(tmp_path) == ["scores.parquet"]  # it carries no mark of ours
    (tmp_path / "summary.json").write_text(json.dumps(summary_document(SUMMARY)))
    finish(tmp_path, 3)
    assert names(tmp_path) == ["report.html", "results.parquet", "summary.json"]
    (tmp_path / "scores.parquet").write_bytes(b"somebody's own")
    finish(tmp_path, 4)
    assert (tmp_path / "scores.parquet").read_bytes() == b"somebody's own"


def stopped(folder: Path, stop: type[BaseException]) -> None:
    with OutputFolder(folder) as opened, TableWriter(opened.table(output.RESULTS), SCHEMA) as writer:
        writer.write(rows(0, 9))
        raise stop


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_a_run_that_stops_leaves_the_old_files(tmp_path: Path, stop: type[BaseException]) -> None:
    finish(tmp_path, 3)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(stop):
        stopped(tmp_path, stop)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_run_that_stops_leaves_no_folder_that_was_not_there(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        stopped(tmp_path / "new" / "out", RuntimeError)
    assert names(tmp_path) == []


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "states.jsonl").write_text("mine")
    finish(tmp_path, 3)
    assert (tmp_path / "states.jsonl").read_text() == "mine"


@pytest.mark.parametrize(
    "name",
    ["answers.parquet", "manifest.json", "report.html", "results.parquet", "run_metrics.parquet", "summary.json"],
)
def test_files_of_our_names_that_are_not_ours_are_not_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"mine": 1}')
    with pytest.raises(ForeignOutputError, match=name), OutputFolder(tmp_path):
        pass
    assert (tmp_path / name).read_text() == '{"mine": 1}'


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(ForeignOutputError, match="takes a folder"), OutputFolder(tmp_path / "out"):
        pass


def test_what_a_killed_run_left_is_removed_and_what_another_run_makes_is_not(tmp_path: Path) -> None:
    killed = tmp_path / ".assignor-score-0123.tmp"
    killed.mkdir()
    (killed / "lock").touch()
    with OutputFolder(tmp_path) as running:
        assert not killed.exists()
        finish(tmp_path, 3)
        assert running.staging.exists()


def test_a_summary_with_a_figure_that_json_cannot_say_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"), OutputFolder(tmp_path) as folder:
        folder.finish(attrs.evolve(SUMMARY, run_metrics=attrs.evolve(SUMMARY.run_metrics, seconds=float("nan"))), None)
    assert names(tmp_path) == []


def test_the_summary_is_ascii(tmp_path: Path) -> None:
    with OutputFolder(tmp_path) as folder:
        folder.finish(attrs.evolve(SUMMARY, results=attrs.evolve(SUMMARY.results, title="\x1b[2J ü")), None)
    text = (tmp_path / "summary.json").read_bytes()
    assert text.isascii()
    assert b"\x1b" not in text
    assert json.loads(text)["results"]["title"] == "\x1b[2J ü"


def test_the_folder_of_rows_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with OutputFolder(Path("out")) as folder:
        assert folder.staging.is_absolute()
        assert folder.path == Path("out"), "messages name the folder as the user did"


def test_a_full_disk_is_reported_with_the_path(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as caught, OutputFolder(tmp_path / "out"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.filename == str(tmp_path / "out")
