"""Rows that the scoring processes write themselves: none is lost, none is there twice, and no byte reveals it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs
import pyarrow as pa
import pytest

from assignment_api.plugins import discover
from assignment_api.plugins.selection import config_sources
from assignor_lab.run import run_scoring
from assignor_lab.scoring import Generated
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.engine import table_parts as parts
from assignor_lab.scoring.engine.engine import RunWork, Wave
from assignor_lab.scoring.engine.in_process import InProcess
from assignor_lab.scoring.engine.table_parts import write_tables
from assignor_lab.scoring.output import tables
from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.output.journal import Journal, ResumeError, WaveFiles, open_journal
from assignor_lab.scoring.output.pieces import NOTED, packed, read_rows, write_piece
from assignor_lab.scoring.output.summary_file import summary_document
from assignor_lab.scoring.output.tables import TableWriter, parts_of, rows_schema
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.spark import waves
from assignor_lab.scoring.spark.engine import OnSpark
from assignor_lab.scoring.summaries import measured
from assignor_lab.scoring.terms import ScoringRun
from tests.scoring.in_process import scored
from tests.scoring.runs import results_bytes, run
from tests.scoring.tables import SCHEMA, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALL = rows_schema(["process_load_excess"])


def journal_in(folder: Path, schema: pa.Schema = SCHEMA) -> Journal:
    return open_journal(folder, lambda _salt: {"seed": "7"}, schema)


def piece(journal: Journal, table: pa.Table) -> Path:
    """The rows as a task wrote them, the last ones first."""
    backwards = table.sort_by([("item", "descending")])
    return write_piece(journal.pieces, table.schema, backwards.to_batches())


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Two waves of pieces, with items in the order in which the tasks took them."""
    journal = journal_in(tmp_path / "waves")
    even, odd = (rows(0, 8).take(list(range(first, 8, 2))) for first in (0, 1))
    journal.note(8, [piece(journal, even), piece(journal, odd)], 1.0)
    journal.note(3, [piece(journal, rows(8, 3))], 2.5)
    return journal


def test_pieces_are_read_again_in_the_order_of_the_rows(journal: Journal) -> None:
    again = journal_in(journal.folder)
    assert (again.done, again.seconds, again.restored) == (11, 2.5, 11)
    assert [items for items, _ in again.tables()] == [8, 3]
    assert pa.concat_tables(table for _, table in again.tables()).equals(rows(0, 11))


def test_what_a_task_wrote_that_did_not_end_or_was_tried_again_counts_for_nothing(journal: Journal) -> None:
    twice = piece(journal, rows(8, 3))
    never = journal.pieces / ".piece-0123.arrow.0123456789ab.tmp"
    never.write_bytes(b"half of a pie")
    again = journal_in(journal.folder)
    assert pa.concat_tables(table for _, table in again.tables()).equals(rows(0, 11))
    assert not twice.exists()
    assert not never.exists()
    assert len(list(journal.pieces.iterdir())) == 3


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:700])])
def test_a_damaged_piece_is_named(journal: Journal, harm: Callable[[Path], object]) -> None:
    path = journal.waves()[1].files[0]
    harm(path)
    with pytest.raises(ResumeError, match=f"{path.name}.*: run the command without --resume"):
        journal_in(journal.folder)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"seconds": 1.0, "pieces": [7]}', b'{"seconds": 1.0}'])
def test_a_damaged_list_of_pieces_is_named(journal: Journal, content: bytes) -> None:
    path = journal.folder / "wave-0000000008-0000000011.json"
    path.write_bytes(content)
    with pytest.raises(ResumeError, match=path.name):
        journal_in(journal.folder)


def test_a_list_names_pieces_of_its_journal_only(journal: Journal, tmp_path: Path) -> None:
    foreign = write_piece(tmp_path, SCHEMA, rows(8, 3).to_batches())
    path = journal.folder / "wave-0000000008-0000000011.json"
    path.write_text(f'{{"seconds": 1.0, "pieces": ["../../{foreign.name}"]}}')
    with pytest.raises(ResumeError, match=f"waves/pieces/{foreign.name}"):
        journal_in(journal.folder)


# --- tables ---------------------------------------------------------------------------------------


class Elsewhere(InProcess):
    """Writes every second part and loses the others; the first it writes twice."""

    def mapped(self, call: Callable[[Any], Any], values: Sequence[Any], seen: Path) -> list[Any]:
        return [call(value) for value in (values[0], *values[::2])]


@pytest.mark.parametrize("engine", [InProcess(), Elsewhere()])
@pytest.mark.parametrize("number", [1, 8, 9, 11])
def test_tables_in_parts_are_those_that_one_writer_makes(
    engine: InProcess, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "ROW_GROUP_ROWS", 2)
    monkeypatch.setattr(tables, "PART_ROWS", 4)
    monkeypatch.setattr(parts, "HERE_ROWS", 0)
    journal = journal_in(tmp_path / "waves")
    first = 0
    waves_there: list[tuple[WaveFiles, int]] = []
    for items in (1, 5, 3, 2):
        count = max(min(items, number - first), 0)
        table = rows(first, count)
        waves_there.append((journal.note(items, [piece(journal, table)], 1.0), count))
        first += count
    (tmp_path / "made").mkdir()
    narrow = SCHEMA.remove(SCHEMA.get_field_index("scenario"))
    made = {tmp_path / "made" / "wide": SCHEMA, tmp_path / "made" / "narrow": narrow}
    write_tables(engine, waves_there, made, tmp_path)
    for path, schema in made.items():
        with TableWriter(tmp_path / path.name, schema) as writer:
            writer.write(rows(0, number))
        assert [part.read_bytes() for part in parts_of(path)] == [
            part.read_bytes() for part in parts_of(tmp_path / path.name)
        ]
        assert [part.name for part in parts_of(path)] == [
            path.name if number <= 4 else f"part-{place:05}.parquet" for place in range(max(-(-number // 4), 1))
        ]


# --- on Spark -------------------------------------------------------------------------------------

HISTORIES = (Generated("streams_4x40", 3, 3),)
NAMES = ("high_availability", "sticky")


@attrs.frozen
class Blind(OnSpark):
    """Executors without access to the driver's folders."""

    def waves(self, work: RunWork) -> Iterator[Wave]:
        elsewhere = Path("/nowhere") / "to" / "be" / "seen"
        for wave in OnSpark.waves(self, attrs.evolve(work, pieces=elsewhere)):
            assert wave.pieces == ()
            yield wave

    def mapped(self, call: Callable[[Any], Any], values: Sequence[Any], seen: Path) -> list[Any]:
        return OnSpark.mapped(self, call, values, seen / "nowhere")


def test_executors_that_do_not_see_the_folder_send_their_rows_and_it_is_said_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waves, "FIRST_WAVE_ITEMS", 1)
    monkeypatch.setattr(waves, "MAX_WAVE_ITEMS", 2)
    alone = scored(HISTORIES, NAMES, tmp_path / "alone")
    monkeypatch.setattr(parts, "HERE_ROWS", 0)
    monkeypatch.setattr(measured, "HERE_ROWS", 0)
    seen = run(spark, HISTORIES, NAMES, tmp_path / "seen")
    registry, config, said = discover(), config_sources(environ={}, start=tmp_path), cast("list[str]", [])
    with plan_sources(HISTORIES, registry, config.above) as plan, OutputFolder(tmp_path / "unseen") as folder:
        competing = found_contenders(registry, NAMES, may_run_code=True)
        engine = Blind(spark, on_note=said.append)
        unseen = summary_document(run_scoring(ScoringRun(registry, competing, plan, config), engine, folder))
    assert len({results_bytes(tmp_path / name) for name in ("alone", "seen", "unseen")}) == 1
    assert len({json.dumps(summary["results"]) for summary in (alone, seen, unseen)}) == 1
    assert ["do not see the output folder" in note for note in said] == [True]


def test_where_only_some_see_the_folder_the_driver_writes_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = rows(0, 6)
    full = pa.table({name: made[name] if name in made.column_names else pa.nulls(6) for name in ALL.names}).cast(ALL)
    file = write_piece(tmp_path, ALL, full.slice(3).to_batches())
    came: list[dict[str, Any]] = [
        {"file": file.name, "rows": None, "marks": "{}"},
        {"file": None, "rows": packed(ALL, full.slice(0, 3).to_batches()), "marks": "{}"},
    ]

    class Came:
        def toArrow(self) -> pa.Table:  # noqa: N802 - Spark's name
            return pa.Table.from_pylist(came)

    class Session:
        def addTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
            pass

    monkeypatch.setattr(waves, "items_frame", lambda *_: None)
    monkeypatch.setattr(waves, "pieces_frame", lambda *_: Came())
    monkeypatch.setattr(waves, "scored_schema", lambda *_, **__: ALL)
    work = RunWork(cast("Any", None), cast("Any", None), cast("Any", None), pieces=tmp_path)
    found = waves._scored(cast("Any", Session()), [], work, (), None)
    assert found.rows.equals(full)
    assert found.pieces == ()
    assert not file.exists()
    came.pop()
    file = write_piece(tmp_path, ALL, full.to_batches())
    came[0]["file"] = file.name
    found = waves._scored(cast("Any", Session()), [], work, (), None)
    assert (found.rows.column_names, found.pieces) == (list(NOTED), (file,))
    assert read_rows(file).equals(full)
    assert found.whole().equals(full)
    assert not file.exists()
