"""The tables as files: the same bytes for the same rows, in parts of a bounded size that any reader takes as one."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assignor_lab.scoring.output import tables
from assignor_lab.scoring.output.tables import TableWriter, described_schema, digest_of, parts_of
from tests.groups.streams.states import METRICS
from tests.scoring.tables import SCHEMA, rows


def written(path: Path, pieces: Sequence[int], schema: pa.Schema = SCHEMA) -> list[bytes]:
    first = 0
    with TableWriter(path, schema) as writer:
        for piece in pieces:
            writer.write(rows(first, piece))
            first += piece
    return [path.read_bytes() for path in parts_of(path)]


@pytest.mark.slow
def test_the_pieces_that_rows_come_in_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROW_GROUP_ROWS", 100)
    monkeypatch.setattr(tables, "PART_ROWS", 200)
    whole = written(tmp_path / "whole", [450])
    assert written(tmp_path / "pieces", [1, 99, 7, 250, 93]) == whole
    assert written(tmp_path / "small", [1] * 450) == whole
    parts = [pq.ParquetFile(path).metadata for path in parts_of(tmp_path / "whole")]
    assert [(part.num_rows, part.num_row_groups) for part in parts] == [(200, 2), (200, 2), (50, 1)]


def test_parts_are_one_table_in_order_for_its_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROW_GROUP_ROWS", 2)
    monkeypatch.setattr(tables, "PART_ROWS", 2)
    assert len(written(tmp_path / "table", [40])) == 20
    assert pq.read_table(tmp_path / "table")["item"].to_pylist() == list(range(40))


def test_a_table_of_one_part_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROW_GROUP_ROWS", 2)
    monkeypatch.setattr(tables, "PART_ROWS", 4)
    (whole,) = written(tmp_path / "one", [4])
    assert (tmp_path / "one").is_file()
    assert digest_of(tmp_path / "one") == sha256(whole).hexdigest()
    parts = written(tmp_path / "more", [5])
    assert (tmp_path / "more").is_dir()
    assert parts[0] == whole
    assert digest_of(tmp_path / "more") == sha256(b"".join(parts)).hexdigest()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["more", "one"]


def test_a_table_that_fails_half_way_does_not_appear(tmp_path: Path) -> None:
    def fail() -> None:
        with TableWriter(tmp_path / "table", SCHEMA) as writer:
            writer.write(rows(0, 3))
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail()
    assert not (tmp_path / "table").exists()


def test_a_part_that_is_just_full_is_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROW_GROUP_ROWS", 2)
    monkeypatch.setattr(tables, "PART_ROWS", 4)
    assert len(written(tmp_path / "table", [3, 5])) == 2


def test_a_table_without_rows_is_a_table(tmp_path: Path) -> None:
    written(tmp_path / "empty", [])
    assert pq.read_table(tmp_path / "empty").num_rows == 0


def test_the_files_tell_their_version_their_order_and_what_is_measured(tmp_path: Path) -> None:
    written(tmp_path / "table", [3], described_schema(SCHEMA, METRICS))
    schema = pq.read_schema(tmp_path / "table")
    assert schema.metadata[b"assignor_lab.results"] == b"2"
    assert schema.metadata[b"assignor_lab.sorted_by"] == b"item,round,assignor"
    told = schema.field("process_load_excess").metadata
    assert told[b"unit"] == METRICS["process_load_excess"].unit.encode()
    assert told[b"direction"] == b"lower"
    assert told[b"summary"] == METRICS["process_load_excess"].summary.encode()
