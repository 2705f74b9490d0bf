"""The rows of a run on disk: blocks that are complete or absent, and the progress of the run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assignor_lab.scoring.engine.blocks import BlockSpan, RunPart
from assignor_lab.scoring.engine.costs import Spent
from assignor_lab.scoring.engine.rows_folder import ResumeError, RowsFolder, write_block
from assignor_lab.scoring.output.folder import PROGRESS, OutputFolder, has_rows
from assignor_lab.scoring.output.tables import block_schema, rows_schema

SCHEMA = rows_schema(["cost"])
TERMS = {"seed": "7", "assignors": "sticky"}
#: Blocks 0 to 2 and 3 to 4, of two items each.
PARTS = (
    RunPart(0, (BlockSpan(0, 3, (), 0, 6, 0, "f", 0, 2),)),
    RunPart(1, (BlockSpan(3, 2, (), 6, 4, 0, "f", 6, 2),)),
)


def rows(block: int) -> pa.Table:
    """The rows of the two items of a block."""
    made: list[dict[str, Any]] = [
        {
            "item": item,
            "round": 0,
            "source": 0,
            "family": "f",
            "assignor": name,
            "error_type": "ProcessDiedError" if item == 5 else None,
            "metric_errors": ["cost: x"] if item == 7 else None,
            "cost": item / 7,
            "build_ms": 1.0,
            "assign_wall_ms": 2.0,
            "metrics_ms": 4.0,
        }
        for item in (2 * block, 2 * block + 1)
        for name in ("a", "b")
    ]
    return pa.Table.from_pylist(made, schema=SCHEMA)


def write(place: RowsFolder, part: RunPart, *blocks: int) -> None:
    for block in blocks:
        numbers = pa.array([block] * 4, pa.int64())
        table = rows(block).add_column(0, block_schema(SCHEMA).field(0), numbers)
        write_block(place.folder(part), block, SCHEMA, table.to_batches())


def opened(folder: Path, **changes: str) -> RowsFolder:
    place = RowsFolder(folder, SCHEMA)
    place.open(lambda _salt: {**TERMS, **changes})
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run that stopped within its second part."""
    folder = tmp_path / "rows"
    place = opened(folder)
    write(place, PARTS[0], 2, 0, 1)
    place.note(PARTS[0], 2.5)
    write(place, PARTS[1], 4)
    return folder


def test_rows_are_read_again_in_order(folder: Path) -> None:
    place = opened(folder)
    assert place.seconds == 2.5
    assert [place.missing(part) for part in PARTS] == [(), (3,)]
    assert place.written(PARTS[1]) == (1, 4)
    write(place, PARTS[1], 3)
    assert place.missing(PARTS[1]) == ()
    found = pa.concat_tables(table for part in PARTS for table in place.tables(part))
    assert found.equals(pa.concat_tables(map(rows, range(5))))


def write_together(place: RowsFolder, part: RunPart, *blocks: int) -> Path:
    """One file with the rows of some blocks, as a task of Spark writes it."""
    tables = [
        rows(block).add_column(0, block_schema(SCHEMA).field(0), pa.array([block] * 4, pa.int64())) for block in blocks
    ]
    write_block(place.folder(part), blocks[0], SCHEMA, pa.concat_tables(tables).to_batches())
    return place.folder(part) / f"block-{blocks[0]:08}.parquet"


def test_a_file_may_have_several_blocks(tmp_path: Path) -> None:
    place = opened(tmp_path / "rows")
    write_together(place, PARTS[0], 0, 2)
    assert place.missing(PARTS[0]) == (1,)
    write_together(place, PARTS[0], 1)
    write_together(place, PARTS[1], 3, 4)
    assert [place.missing(part) for part in PARTS] == [(), ()]
    assert place.written(PARTS[0]) == (3, 12)
    assert place.seen(PARTS[0], losses=True).states == 6
    found = pa.concat_tables(table for part in PARTS for table in place.tables(part))
    assert found.equals(pa.concat_tables(map(rows, range(5))))


def test_all_blocks_of_a_damaged_file_are_missing(tmp_path: Path) -> None:
    place = opened(tmp_path / "rows")
    path = write_together(place, PARTS[0], 0, 1)
    write(place, PARTS[0], 2)
    place.note(PARTS[0], 1.0)
    path.write_bytes(path.read_bytes()[:2_000])
    assert opened(tmp_path / "rows").missing(PARTS[0]) == (0, 1)


def test_the_run_sees_rows_states_times_and_losses_of_a_part(folder: Path) -> None:
    place = opened(folder)
    seen = place.seen(PARTS[0], losses=True)
    assert (seen.rows, seen.states, seen.spent) == (12, 6, Spent(12.0, 24.0, 48.0))
    assert [(row["item"], row["assignor"]) for row in seen.losses] == [(5, "a"), (5, "b")]
    assert place.seen(PARTS[0], losses=False).losses == ()
    assert [row["metric_errors"] for row in place.seen(PARTS[1], losses=True).losses] == []


def test_a_new_run_has_nothing(tmp_path: Path) -> None:
    place = opened(tmp_path / "rows")
    assert [place.missing(part) for part in PARTS] == [(0, 1, 2), (3, 4)]
    assert (place.seconds, has_rows(tmp_path / "rows")) == (0.0, False)


@pytest.mark.parametrize("kept", [0, 100, 2_000])
def test_a_block_that_cannot_be_read_is_missing(folder: Path, kept: int) -> None:
    for part, block in ((0, 1), (1, 4)):
        path = folder / f"part={part:05}" / f"block-{block:08}.parquet"
        path.write_bytes(path.read_bytes()[:kept])
    place = opened(folder)
    assert [place.missing(part) for part in PARTS] == [(1,), (3, 4)]
    assert len(list(folder.rglob("*.parquet"))) == 2


def test_a_block_in_progress_is_left_alone(tmp_path: Path) -> None:
    place = opened(tmp_path / "rows")
    half = place.folder(PARTS[1]) / "part-00000.parquet"
    half.parent.mkdir()
    half.write_bytes(b"PAR1 half")
    assert place.written(PARTS[1]) == (0, 0)
    assert half.exists()


def test_files_of_spark_beside_the_blocks_are_no_blocks(folder: Path) -> None:
    part = folder / "part=00001"
    (part / "_SUCCESS").touch()
    (part / ".block-00000004.parquet.crc").write_bytes(b"crc")
    half = part / "_temporary" / "0" / "task"
    half.mkdir(parents=True)
    (half / "part-00000.parquet").write_bytes(b"half")
    assert opened(folder).missing(PARTS[1]) == (3,)


def test_the_message_has_the_differences(folder: Path) -> None:
    with pytest.raises(ResumeError) as raised:
        opened(folder, seed="8", baseline="sticky")
    text = str(raised.value)
    assert "seed: 7 then, 8 now" in text
    assert "baseline: nothing then, sticky now" in text
    assert "assignors" not in text
    assert "leave --resume out" in text


def test_a_long_list_of_differences_is_cut(folder: Path) -> None:
    with pytest.raises(ResumeError, match="; and 14 more"):
        opened(folder, **{f"key {number:02}": "x" * 5000 for number in range(20)})


def test_terms_see_the_salt_of_the_first_run(folder: Path) -> None:
    salts: list[bytes] = []

    def terms(salt: bytes) -> Mapping[str, str]:
        salts.append(salt)
        return TERMS

    for _ in range(2):
        RowsFolder(folder, SCHEMA).open(terms)
    assert salts[0] == salts[1]
    assert len(salts[0]) == 16


def test_progress_of_another_release_is_refused(folder: Path) -> None:
    document = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
    (folder / PROGRESS).write_text(json.dumps({**document, "format": 2}), encoding="utf-8")
    with pytest.raises(ResumeError, match=r"progress\.json, .*reads format 3, found 2.*: run the command without"):
        opened(folder)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"[]", b'{"terms": {}}', b"\xff", b"[" * 100_000])
def test_damaged_progress_is_named(folder: Path, content: bytes) -> None:
    (folder / PROGRESS).write_bytes(content)
    with pytest.raises(ResumeError, match=r"progress\.json.*: run the command without --resume"):
        opened(folder)


# --- the output folder ----------------------------------------------------------------------------


def abandoned(path: Path, name: str, rows: Path | None) -> Path:
    staging = path / f".assignor-score-{name}.tmp"
    staging.mkdir(parents=True)
    (staging / "lock").touch()
    if rows is not None:
        shutil.copytree(rows, staging / "rows")
    return staging


def test_an_abandoned_run_is_taken_over(folder: Path, tmp_path: Path) -> None:
    staging = abandoned(tmp_path / "out", "0123", folder)
    half = staging / "tables" / "results.parquet" / ".results.parquet.parts"
    half.mkdir(parents=True)
    (half / "part-00000.parquet").write_bytes(b"half")
    with OutputFolder(tmp_path / "out", resume=True) as output:
        assert output.staging == staging
        assert opened(output.rows).missing(PARTS[0]) == ()
        assert list(output.table("results.parquet").parent.iterdir()) == []
    assert not (tmp_path / "out").joinpath("results.parquet").exists()


def test_a_run_of_other_terms_stays(folder: Path, tmp_path: Path) -> None:
    staging = abandoned(tmp_path / "out", "0123", folder)
    notes: list[str] = []
    with pytest.raises(ResumeError), OutputFolder(tmp_path / "out", resume=True, on_note=notes.append) as output:
        opened(output.rows, seed="9")
    assert has_rows(staging / "rows")
    assert ["--resume" in note for note in notes] == [True]


def test_without_resume_a_stopped_run_is_reported_and_removed(folder: Path, tmp_path: Path) -> None:
    staging = abandoned(tmp_path / "out", "0123", folder)
    notes: list[str] = []
    with OutputFolder(tmp_path / "out", on_note=notes.append) as output:
        assert not staging.exists()
        assert not has_rows(output.rows)
    assert ["removed" in note for note in notes] == [True]


def test_resume_without_a_stopped_run_is_reported(tmp_path: Path) -> None:
    abandoned(tmp_path / "out", "0123", None)
    notes: list[str] = []
    with OutputFolder(tmp_path / "out", resume=True, on_note=notes.append) as output:
        assert not has_rows(output.rows)
    assert ["begins with the first state" in note for note in notes] == [True]


def test_a_run_in_progress_is_not_taken_over(folder: Path, tmp_path: Path) -> None:
    with OutputFolder(tmp_path / "out") as running:
        shutil.copytree(folder, running.rows)
        with OutputFolder(tmp_path / "out", resume=True) as second:
            assert second.staging != running.staging
        assert has_rows(running.rows)
