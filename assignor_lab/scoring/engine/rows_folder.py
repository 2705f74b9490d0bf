"""The rows of a run in a folder of this machine: files of one or more blocks, and the progress of the run beside them.

A file is complete or absent. After a stop, the next run of the same terms writes the missing blocks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import attrs
import pyarrow as pa
import pyarrow.parquet as pq

from assignment_api import AssignorLabError
from assignor_lab.documents.durable import sync, write_durably
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import format_number, hexadecimal, list_of, map_of, number, record, text
from assignor_lab.groups.columns import OTHER_FORMAT
from assignor_lab.scoring.engine.blocks import RunPart
from assignor_lab.scoring.engine.costs import Spent, spent_on
from assignor_lab.scoring.engine.engine import RowsTarget
from assignor_lab.scoring.engine.exclusion import LOSSY_COLUMNS, ScoredRow, lossy
from assignor_lab.scoring.output.folder import PROGRESS, has_rows
from assignor_lab.scoring.output.tables import BLOCK, block_schema

__all__ = ["PartRows", "ResumeError", "RowsFolder", "check_equal_terms", "write_block"]

FORMAT = 3
_MAX_PROGRESS_BYTES = 64 * 1024 * 1024
_PART_SHAPE = record({"number": number, "seconds": number})
_SHAPE = record(
    {
        "format": format_number(FORMAT, OTHER_FORMAT),
        "salt": hexadecimal,
        "terms": map_of(text, text),
        "parts": list_of(_PART_SHAPE),
    }
)
#: Columns for the time and the losses of rows.
_NOTED = tuple(dict.fromkeys(("item", "round", "family", "build_ms", "assign_wall_ms", "metrics_ms", *LOSSY_COLUMNS)))
#: Most differing terms in a message.
MAX_NAMED = 6
_MAX_SHOWN = 120
_BEGIN_ANEW = "run the command without --resume, which begins anew"

#: From a salt to the terms, in which secrets are digests with that salt.
Terms = Callable[[bytes], Mapping[str, str]]


class ResumeError(AssignorLabError):
    """A run cannot be resumed: it was another one, or its files are damaged."""


@attrs.frozen
class PartRows:
    """The rows of a complete part, as far as the run needs them.

    Args:
        losses: Rows that may have a loss.
    """

    rows: int
    states: int
    spent: Spent
    losses: tuple[ScoredRow, ...] = ()


def write_block(folder: Path, block: int, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Writes the rows of a block in its final order.

    Args:
        schema: Columns of the rows, without the block's number.

    Raises:
        OSError: if the file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"block-{block:08}.parquet"
    unfinished = path.with_suffix(".tmp")
    with pq.ParquetWriter(unfinished, block_schema(schema)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    # Not brought to the disk, which takes longer than the block: a resumed run reads each file once.
    unfinished.replace(path)


@attrs.frozen
class _Place:
    """The place of a block: consecutive rows of a file."""

    path: Path
    first: int
    rows: int


@attrs.define
class RowsFolder:
    """The rows of one run.

    Args:
        path: An absolute path.
        schema: Columns of the rows, without the block's number.
    """

    path: Path
    schema: pa.Schema
    _salt: bytes = b""
    _terms: Mapping[str, str] = attrs.field(factory=dict)
    #: Number of each complete part to the time of the run until then.
    _noted: dict[int, float] = attrs.field(factory=dict)
    _is_resumed: bool = False
    #: Part to its blocks and their places, as far as known.
    _blocks: dict[int, dict[int, _Place]] = attrs.field(factory=dict)

    def open(self, terms: Terms) -> None:
        """Reads the progress of a stopped run, or begins a new one.

        Raises:
            ResumeError: if the stopped run was another one (the message has the differences), or is damaged.
            OSError: if the folder cannot be read or written.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        if not has_rows(self.path):
            self._salt = os.urandom(16)
            self._terms = dict(terms(self._salt))
            self._write_progress()
            sync(self.path.parent)
            return
        try:
            document = read_document(
                self.path / PROGRESS, parse_json, _SHAPE, max_bytes=_MAX_PROGRESS_BYTES, subject="the progress of a run"
            )
        except DocumentFormatError as error:
            raise ResumeError(f"{error}: {_BEGIN_ANEW}") from error
        self._salt, self._terms = document["salt"], document["terms"]
        check_equal_terms(self._terms, terms(self._salt))
        self._is_resumed = True
        self._noted = {int(each["number"]): each["seconds"] for each in document["parts"]}

    @property
    def seconds(self) -> float:
        """Time of the stopped run."""
        return max(self._noted.values(), default=0.0)

    def target(self, part: RunPart) -> RowsTarget:
        # Hadoop takes the path as it is: an encoded one would be another folder.
        return RowsTarget(f"file://{self.folder(part)}", self.folder(part))

    def folder(self, part: RunPart) -> Path:
        return self.path / f"part={part.number:05}"

    def missing(self, part: RunPart) -> tuple[int, ...]:
        """Numbers of the blocks without a readable file, in order; removes files that cannot be read."""
        # A loss of power may leave a name without its content.
        found = self._found(part, whole=self._is_resumed and part.number not in self._blocks)
        return tuple(block for block in _numbers(part) if block not in found)

    def written(self, part: RunPart) -> tuple[int, int]:
        """Number of complete blocks, and of their rows."""
        found = self._found(part, whole=False)
        return len(found), sum(place.rows for place in found.values())

    def note(self, part: RunPart, seconds: float) -> None:
        """Notes a complete part.

        Raises:
            OSError: if it cannot be written.
        """
        if part.number not in self._noted:
            self._noted[part.number] = seconds
            self._write_progress()

    def seen(self, part: RunPart, *, losses: bool) -> PartRows:
        """The rows of a complete part, as far as the run needs them; without losses if they do not matter."""
        rows = states = 0
        spent, lost = Spent(), list[ScoredRow]()
        for table in self._read(part, _NOTED):  # a block at a time: an item is in one of them
            rows += table.num_rows
            states += len(table.group_by(["item", "round"]).aggregate([]))
            spent += spent_on(table)
            lost += lossy(table) if losses else ()
        return PartRows(rows, states, spent, tuple(lost))

    def tables(self, part: RunPart) -> Iterator[pa.Table]:
        """The rows of a part in their final order, block by block."""
        yield from self._read(part, self.schema.names)

    def _read(self, part: RunPart, columns: Iterable[str]) -> Iterator[pa.Table]:
        """Columns of the blocks of a part, in order; blocks of one file usually follow each other."""
        names = list(columns)
        schema = pa.schema([self.schema.field(name) for name in names])
        path, table = None, pa.table({})
        for _, place in sorted(self._found(part, whole=False).items()):
            if place.path != path:
                # As a file, not as a part of a partitioned table: its folder's name is no column.
                with pq.ParquetFile(place.path) as file:
                    path, table = place.path, file.read(names).select(names).cast(schema)
            yield table.slice(place.first, place.rows)

    def _found(self, part: RunPart, *, whole: bool) -> dict[int, _Place]:
        found = self._blocks.setdefault(part.number, {})
        known = {place.path for place in found.values()}
        folder = self.folder(part)
        for path in sorted(folder.glob("*.parquet")) if folder.is_dir() else ():
            if path in known:
                continue
            try:
                found |= _checked(path, whole=whole)
            except (OSError, ValueError, pa.ArrowException):
                if whole:
                    path.unlink(missing_ok=True)
        return found

    def _write_progress(self) -> None:
        parts = [{"number": part, "seconds": round(seconds, 3)} for part, seconds in sorted(self._noted.items())]
        document = {"format": FORMAT, "salt": self._salt.hex(), "terms": dict(self._terms), "parts": parts}
        write_durably(self.path / PROGRESS, f"{json.dumps(document, indent=1)}\n".encode())


def _numbers(part: RunPart) -> range:
    return range(part.first_block, part.first_block + part.blocks)


def _checked(path: Path, *, whole: bool) -> dict[int, _Place]:
    """Number of each block of a file to its place."""
    with pq.ParquetFile(path) as file:
        if whole:
            file.read().validate(full=True)
        blocks = file.read([BLOCK])[BLOCK].combine_chunks()
    places: dict[int, _Place] = {}
    first = 0
    for found in blocks.value_counts().to_pylist():
        places[found["values"]] = _Place(path, first, found["counts"])
        first += found["counts"]
    return places


def check_equal_terms(written: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Compares the terms of a stopped run with those of this one.

    Raises:
        ResumeError: if they differ; the message lists the differences.
    """
    names = dict.fromkeys((*written, *now))
    differing = [name for name in names if written.get(name) != now.get(name)]
    if differing:
        differences = "; ".join(
            f"{name}: {_shown(written.get(name))} then, {_shown(now.get(name))} now" for name in differing[:MAX_NAMED]
        )
        more = f"; and {len(differing) - MAX_NAMED} more" if len(differing) > MAX_NAMED else ""
        raise ResumeError(
            f"the run that stopped early was another one ({differences}{more}): repeat that command with --resume, or "
            "leave --resume out, which removes it and begins anew"
        )


def _shown(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"
