"""Pieces: rows of a wave in their own file, written by their scorer.

A piece has a unique name before it is registered. A piece that a repeated task wrote twice, or that is incomplete, is
in no wave of the journal, and none of its rows count.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from assignment_api import AssignorLabError
from assignor_lab.documents.durable import replacing

__all__ = [
    "NOTED",
    "DamagedPieceError",
    "packed",
    "piece_writer",
    "read_rows",
    "schema_of",
    "unpacked",
    "write_piece",
    "write_rows",
]

#: Columns that the driver reads while the others stay on the disk.
NOTED = (
    *("item", "round", "source", "assignor", "family", "error_type", "error_message", "metric_errors"),
    *("build_ms", "assign_ms", "metrics_ms"),
)
#: Rows that are held before they are written.
_HELD_ROWS = 4_096


class DamagedPieceError(AssignorLabError):
    """A file with rows cannot be read: the message names it, and the reason."""


def write_piece(folder: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Path:
    """Writes rows to a new file; after the return it survives a loss of power.

    Raises:
        OSError: if it cannot be written.
    """
    with piece_writer(folder, schema) as (path, write):
        for batch in batches:
            write(batch)
    return path


@contextmanager
def piece_writer(folder: Path, schema: pa.Schema) -> Iterator[tuple[Path, Callable[[pa.RecordBatch], None]]]:
    """Yields the path of a new piece, and a function that writes rows to it; the piece exists after the block.

    Args:
        schema: Columns of the rows.

    Raises:
        OSError: if it cannot be written.
    """
    path = folder / f"piece-{secrets.token_hex(12)}.arrow"
    with replacing(path) as part, pa.OSFile(str(part), "wb") as file, _writing(file, schema) as write:
        yield path, write


def write_rows(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    with pa.OSFile(str(path), "wb") as file:
        _write(file, schema, batches)


def packed(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> bytes:
    """Rows in serialized form, for scorers without the folder."""
    held = pa.BufferOutputStream()
    _write(held, schema, batches)
    content: bytes = held.getvalue().to_pybytes()
    return content


def unpacked(content: bytes) -> pa.Table:
    with pa.ipc.open_file(pa.py_buffer(content)) as reader:
        return reader.read_all()


def read_rows(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows of a file, or some columns of them.

    Raises:
        DamagedPieceError: if it is missing, or not as it was written.
    """
    try:
        with pa.memory_map(str(path)) as file, pa.ipc.open_file(file) as reader:
            schema = reader.schema
            if columns is None:
                table = reader.read_all()
            else:
                chosen = [schema.get_field_index(name) for name in columns]
                options = pa.ipc.IpcReadOptions(included_fields=chosen)
                with pa.ipc.open_file(file, options=options) as some:
                    table = some.read_all().select(list(columns))
            table.validate(full=True)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise _damaged(path, error) from error
    return table.replace_schema_metadata(None)


def schema_of(path: Path) -> pa.Schema:
    """The columns of a file, and its writer's metadata; errors as of :func:`read_rows`."""
    try:
        with pa.OSFile(str(path), "rb") as file, pa.ipc.open_file(file) as reader:
            return reader.schema
    except (OSError, ValueError, pa.ArrowException) as error:
        raise _damaged(path, error) from error


def _write(file: pa.NativeFile, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    with _writing(file, schema) as write:
        for batch in batches:
            write(batch)


@contextmanager
def _writing(file: pa.NativeFile, schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Writes rows some thousands at a time: the reader's cost of a batch grows with its number of columns."""
    held: list[pa.RecordBatch] = []
    with pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:

        def write(batch: pa.RecordBatch) -> None:
            held.append(batch)
            if sum(each.num_rows for each in held) >= _HELD_ROWS:
                flush()

        def flush() -> None:
            if held:
                writer.write_table(pa.Table.from_batches(held, schema).combine_chunks())
                held.clear()

        yield write
        flush()


def _damaged(path: Path, error: Exception) -> DamagedPieceError:
    return DamagedPieceError(f"{path} is damaged ({str(error).splitlines()[0] if str(error) else error!r})")
