"""The journal of a run, and the conditions for resuming it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.output.journal import Journal, ResumeError, Terms, has_waves, open_journal
from tests.scoring.tables import SCHEMA, rows

TERMS = {"seed": "7", "assignors": "sticky (assignor-lab 0.1.0)"}


def fixed(terms: Mapping[str, str]) -> Terms:
    return lambda _salt: terms


def opened(folder: Path, schema: pa.Schema = SCHEMA, **changes: str) -> Journal:
    return open_journal(folder, fixed({**TERMS, **changes}), schema)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A journal of three waves: items 0 to 1, 2 to 6 and 7."""
    folder = tmp_path / "waves"
    journal = opened(folder)
    for first, count, seconds in ((0, 2, 1.5), (2, 5, 2.5), (7, 1, 3.0)):
        journal.append(count, rows(first, count), seconds)
    return folder


def test_what_was_written_is_read_again_in_order(folder: Path) -> None:
    journal = opened(folder)
    assert (journal.done, journal.restored, journal.seconds) == (8, 8, 3.0)
    waves = list(journal.tables())
    assert [items for items, _ in waves] == [2, 5, 1]
    assert pa.concat_tables(table for _, table in waves).equals(rows(0, 8))


def test_a_run_that_goes_on_writes_behind_what_is_there(folder: Path) -> None:
    journal = opened(folder)
    journal.append(3, rows(8, 3), 9.0)
    again = opened(folder)
    assert (again.done, again.seconds) == (11, 9.0)
    assert [items for items, _ in again.tables()] == [2, 5, 1, 3]


def test_an_empty_journal_has_nothing_to_go_on_from(tmp_path: Path) -> None:
    journal = opened(tmp_path / "waves")
    assert (journal.done, list(journal.tables()), has_waves(tmp_path / "waves")) == (0, [], False)


def test_a_wave_that_was_not_finished_is_none(folder: Path) -> None:
    (folder / ".wave-0000000008-0000000099.arrow.0a1b2c3d4e5f.tmp").write_bytes(b"half of a wa")
    assert opened(folder).done == 8
    assert not list(folder.glob("*.tmp"))


def test_the_message_says_what_differs(folder: Path) -> None:
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


def test_terms_see_the_salt_of_the_journal(tmp_path: Path) -> None:
    salts: list[bytes] = []

    def terms(salt: bytes) -> Mapping[str, str]:
        salts.append(salt)
        return {"secret": salt.hex()}

    open_journal(tmp_path / "waves", terms, SCHEMA).append(1, rows(0, 1), 0.1)
    open_journal(tmp_path / "waves", terms, SCHEMA)
    assert len(salts) == 2
    assert salts[0] == salts[1]


def test_other_columns_are_another_run(folder: Path) -> None:
    with pytest.raises(ResumeError, match="columns"):
        opened(folder, SCHEMA.append(pa.field("one_more", pa.float64())))


def test_a_run_of_an_older_version_is_refused(folder: Path) -> None:
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('"format": 2', '"format": 1'), encoding="utf-8")
    with pytest.raises(ResumeError, match=r"manifest\.json, .*reads format 2, found 1.*: run the command without"):
        opened(folder)


@pytest.mark.parametrize("content", [b"", b"ARROW1", b"[]", b'{"terms": {}}', b"\xff", b"[" * 100_000])
def test_a_damaged_manifest_is_named(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(ResumeError, match=r"manifest\.json.*: run the command without --resume"):
        opened(folder)


@pytest.mark.parametrize("kept", [0, 100, 1000])
def test_a_damaged_wave_is_named(folder: Path, kept: int) -> None:
    path = folder / "wave-0000000007-0000000008.arrow"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ResumeError, match=path.name):
        list(opened(folder).tables())


def test_a_missing_wave_is_named(folder: Path) -> None:
    (folder / "wave-0000000002-0000000007.arrow").unlink()
    with pytest.raises(ResumeError, match="begins with item 2"):
        opened(folder)


# --- the output folder ----------------------------------------------------------------------------


def abandoned(path: Path, name: str, journal: Path | None) -> Path:
    staging = path / f".assignor-score-{name}.tmp"
    staging.mkdir(parents=True)
    (staging / "lock").touch()
    if journal is not None:
        shutil.copytree(journal, staging / "waves")
    return staging


def test_an_abandoned_run_is_taken_over(folder: Path, tmp_path: Path) -> None:
    staging = abandoned(tmp_path / "out", "0123", folder)
    half = staging / "tables" / "results.parquet" / ".results.parquet.parts"
    half.mkdir(parents=True)
    (half / "part-00000.parquet").write_bytes(b"half")
    with OutputFolder(tmp_path / "out", resume=True) as output:
        assert output.staging == staging
        assert opened(output.journal).done == 8
        assert list(output.table("results.parquet").parent.iterdir()) == []
    assert not (tmp_path / "out").joinpath("results.parquet").exists()


def test_what_cannot_be_gone_on_with_stays(folder: Path, tmp_path: Path) -> None:
    staging = abandoned(tmp_path / "out", "0123", folder)
    notes: list[str] = []
    with pytest.raises(ResumeError), OutputFolder(tmp_path / "out", resume=True, on_note=notes.append) as output:
        opened(output.journal, seed="9")
    assert has_waves(staging / "waves")
    assert ["--resume" in note for note in notes] == [True]


def test_without_resume_it_is_said_and_removed(folder: Path, tmp_path: Path) -> None:
    staging = abandoned(tmp_path / "out", "0123", folder)
    notes: list[str] = []
    with OutputFolder(tmp_path / "out", on_note=notes.append) as output:
        assert not staging.exists()
        assert not has_waves_in(output)
    assert ["removed" in note for note in notes] == [True]


def test_nothing_to_go_on_with_is_said(tmp_path: Path) -> None:
    abandoned(tmp_path / "out", "0123", None)
    notes: list[str] = []
    with OutputFolder(tmp_path / "out", resume=True, on_note=notes.append) as output:
        assert not has_waves_in(output)
    assert ["begins with the first state" in note for note in notes] == [True]


def test_a_run_that_is_going_on_is_not_taken_over(folder: Path, tmp_path: Path) -> None:
    with OutputFolder(tmp_path / "out") as running:
        shutil.copytree(folder, running.journal)
        with OutputFolder(tmp_path / "out", resume=True) as second:
            assert second.staging != running.staging
        assert has_waves(running.journal)


def has_waves_in(output: OutputFolder) -> bool:
    return has_waves(output.journal)
