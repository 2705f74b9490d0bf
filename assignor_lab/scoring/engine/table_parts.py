"""The finished tables, part by part, from the rows of the waves on disk.

A part is the rows between two positions of the whole table. So each can be written independently, by any process that
sees the folder; written twice, it is the same file.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignor_lab.documents.durable import sync
from assignor_lab.scoring.engine.engine import Engine
from assignor_lab.scoring.output import tables
from assignor_lab.scoring.output.journal import WaveFiles
from assignor_lab.scoring.output.tables import TableWriter

__all__ = ["Part", "write_part", "write_tables"]

#: Up to this many rows, distribution takes longer than the work.
HERE_ROWS = 32_768


@attrs.frozen
class Part:
    """One part of each table.

    Args:
        skipped: Rows of the first of them that belong to the part before.
        only_round: The one round with kept rows; ``None``: all.
    """

    waves: tuple[WaveFiles, ...]
    skipped: int
    rows: int
    only_round: int | None
    files: tuple[tuple[Path, pa.Schema], ...]


def write_tables(
    engine: Engine,
    waves: Sequence[tuple[WaveFiles, int]],
    schemas: Mapping[Path, pa.Schema],
    seen: Path,
    only_round: int | None = None,
) -> None:
    """Writes the tables; none of them exists yet.

    Args:
        seen: The folder of all files.
        only_round: The one round with kept rows; ``None``: all.

    Raises:
        DamagedPieceError: if rows cannot be read.
        JobFailedError: if the engine aborted.
        OSError: if a table cannot be written.
    """
    rows = sum(number for _, number in waves)
    parts = list(_parts(waves, rows, schemas, only_round))
    if len(parts) > 1:
        for table in schemas:
            table.mkdir()
    if rows > HERE_ROWS:
        engine.mapped(write_part, parts, seen)
    for part in parts:
        # Write parts here that were written on another machine and are not visible.
        if not all(path.exists() for path, _ in part.files):
            write_part(part)


def write_part(part: Part) -> None:
    scratches = [(path.parent.parent / f".{path.name}.{secrets.token_hex(6)}", path) for path, _ in part.files]
    writers = [TableWriter(scratch, schema) for (scratch, _), (_, schema) in zip(scratches, part.files, strict=True)]
    try:
        for rows in _rows_of(part):
            for writer in writers:
                writer.write(rows)
    except BaseException as error:
        for writer in writers:
            writer.__exit__(type(error), error, None)
        raise
    for writer, (scratch, path) in zip(writers, scratches, strict=True):
        writer.__exit__(None, None, None)
        sync(scratch)
        scratch.rename(path)


def _parts(
    waves: Sequence[tuple[WaveFiles, int]], rows: int, schemas: Mapping[Path, pa.Schema], only_round: int | None
) -> Iterator[Part]:
    ends = list(accumulate(number for _, number in waves))
    number = max(-(-rows // tables.PART_ROWS), 1)
    for place in range(number):
        start, end = place * tables.PART_ROWS, min((place + 1) * tables.PART_ROWS, rows)
        inside = [index for index, last in enumerate(ends) if last > start and last - waves[index][1] < end]
        before = 0 if not inside else ends[inside[0]] - waves[inside[0]][1]
        yield Part(
            waves=tuple(waves[index][0] for index in inside),
            skipped=start - before if inside else 0,
            rows=end - start,
            only_round=only_round,
            files=tuple(
                (tables.part_path(table, place) if number > 1 else table, schema) for table, schema in schemas.items()
            ),
        )


def _rows_of(part: Part) -> Iterator[pa.Table]:
    skipped, left = part.skipped, part.rows
    for wave in part.waves:
        rows = wave.table()
        if part.only_round is not None:
            rows = rows.filter(pc.equal(rows["round"], part.only_round))
        rows = rows.slice(skipped, left)
        skipped, left = 0, left - rows.num_rows
        yield rows
