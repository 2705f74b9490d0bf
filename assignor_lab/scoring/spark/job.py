"""The Spark job: work items in, rows out, through ``mapInArrow`` on a DataFrame only.

So it runs on a local master, on a cluster and through Spark Connect. Items are small (a history is a seed), and each
Python process of an executor finds the plugins once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pyarrow as pa

from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.garbage import spare_what_is_loaded
from assignor_lab.scoring.engine.batches import (
    BATCH_ROWS,
    PICTURE_SCHEMA,
    answer_batches,
    picture_batches,
    scored_schema,
)
from assignor_lab.scoring.engine.speculation import MARK, Speculation
from assignor_lab.scoring.output.pieces import packed, piece_writer
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel, arrived

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["answers_frame", "ddl_of", "items_frame", "pictures_frame", "pieces_frame", "scorer_of"]

_ITEM_TYPE = pa.struct(
    [
        pa.field("number", pa.int64(), nullable=False),
        pa.field("source", pa.int32(), nullable=False),
        pa.field("document", pa.string()),
        pa.field("file", pa.string()),
        pa.field("line", pa.int64()),
        pa.field("family", pa.string()),
        pa.field("seed", pa.int64()),
        pa.field("excluded", pa.list_(pa.string()), nullable=False),
        pa.field("settled_before", pa.int64(), nullable=False),
    ]
)
_HEAP_SCHEMA = pa.schema([pa.field("items", pa.list_(_ITEM_TYPE), nullable=False)])
_PIECE_SCHEMA = pa.schema(
    [pa.field("file", pa.string()), pa.field("rows", pa.binary()), pa.field("marks", pa.string())]
)
_NOTHING = pa.RecordBatch.from_pylist([], schema=_PIECE_SCHEMA)
_PIECE_DDL = "file STRING, rows BINARY, marks STRING"
_SPARK_TYPES = {
    pa.int64(): "BIGINT",
    pa.int32(): "INT",
    pa.string(): "STRING",
    pa.bool_(): "BOOLEAN",
    pa.float64(): "DOUBLE",
    pa.list_(pa.string()): "ARRAY<STRING>",
}


def items_frame(spark: SparkSession, heaps: Iterable[Sequence[WorkItem]], partitions: int | None = None) -> DataFrame:
    """Heaps of work items as a DataFrame, a row for each heap.

    Spark divides the rows into partitions of equal numbers: with as many heaps as simultaneous tasks, each is a
    partition.

    Args:
        heaps: The items; they are held in memory, as Arrow.
    """
    rows = ({"items": [attrs.asdict(item) for item in heap]} for heap in heaps)
    batches = iter(lambda: list(islice(rows, BATCH_ROWS)), [])
    table = pa.Table.from_batches(
        (pa.RecordBatch.from_pylist(batch, schema=_HEAP_SCHEMA) for batch in batches), _HEAP_SCHEMA
    )
    frame = spark.createDataFrame(table)
    return frame if partitions is None else frame.repartition(max(1, min(partitions, table.num_rows)))


def answers_frame(frame: DataFrame, spec: JobSpec, wheels: tuple[ExecutorWheel, ...] = ()) -> DataFrame:
    """The rows of all answers to the items in ``frame``, in no particular order.

    Args:
        wheels: Plugins that the executors have as wheels.
    """
    return frame.mapInArrow(partial(_answer_batches, spec, wheels), ddl_of(scored_schema(spec)))


def pieces_frame(
    frame: DataFrame,
    spec: JobSpec,
    folder: Path | None,
    wheels: tuple[ExecutorWheel, ...] = (),
    speculation: Speculation | None = None,
) -> DataFrame:
    """The rows of all answers, in pieces: a row for each piece, with its file's name or its rows.

    Args:
        folder: Folder of the files, for executors that see it; ``None``: no files.
        speculation: State of the exclusions, for guesses; ``None``: no guesses are needed.

    Returns:
        A DataFrame with the columns ``file`` (its name) and ``rows``, of which one is null (see
        :mod:`assignor_lab.scoring.output.pieces`), and ``marks``, the guesses as JSON: number of an item to the plugins
        that were excluded from it.
    """
    where = None if folder is None else str(folder)
    return frame.mapInArrow(partial(_answer_pieces, spec, wheels, where, speculation), _PIECE_DDL)


def pictures_frame(
    frame: DataFrame,
    spec: JobSpec,
    wanted: Mapping[tuple[int, int], str | None],
    wheels: tuple[ExecutorWheel, ...] = (),
) -> DataFrame:
    """The full pictures of some states, as JSON: columns ``item``, ``round``, ``detail``.

    Args:
        wanted: Pairs of item and round, each with an assignor for states that differ.
    """
    return frame.mapInArrow(partial(_picture_batches, spec, wheels, dict(wanted)), ddl_of(PICTURE_SCHEMA))


def ddl_of(schema: pa.Schema) -> str:
    return ", ".join(f"`{field.name.replace('`', '``')}` {_SPARK_TYPES[field.type]}" for field in schema)


# --- on the executors -----------------------------------------------------------------------------


def _answer_pieces(
    spec: JobSpec,
    wheels: tuple[ExecutorWheel, ...],
    folder: str | None,
    speculation: Speculation | None,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    items = _items(batches)
    first = next(items, None)
    if first is None:
        return
    scorer = scorer_of(spec, wheels)
    schema = scored_schema(spec)
    marks: dict[str, list[str]] = {}
    rows = _unmarked(answer_batches(scorer, chain([first], items), speculation), schema, marks)
    # The folder's name is random: an existing folder of that name is the driver's.
    if folder is not None and os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        with piece_writer(Path(folder), schema) as (path, write):
            for batch in rows:
                write(batch)
                # A worker without output does not notice that its result is unwanted.
                yield _NOTHING
        yield _piece(path.name, None, marks)
        return
    held: list[pa.RecordBatch] = []
    for batch in rows:
        held.append(batch)
        yield _NOTHING
    yield _piece(None, packed(schema, held), marks)


def _unmarked(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, marks: dict[str, list[str]]
) -> Iterator[pa.RecordBatch]:
    """The rows without the marks, which go to ``marks``: few rows have any, and no table has that column."""
    for batch in batches:
        if MARK in batch.schema.names and batch.column(MARK).null_count < batch.num_rows:
            marked = batch.select(["item", MARK]).to_pylist()
            marks.update({str(row["item"]): row[MARK] for row in marked if row[MARK] is not None})
        yield batch.select(schema.names)


def _piece(file: str | None, rows: bytes | None, marks: Mapping[str, list[str]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"file": file, "rows": rows, "marks": json.dumps(marks)}], schema=_PIECE_SCHEMA)


def _answer_batches(
    spec: JobSpec, wheels: tuple[ExecutorWheel, ...], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    yield from answer_batches(scorer_of(spec, wheels), _items(batches))


def _picture_batches(
    spec: JobSpec,
    wheels: tuple[ExecutorWheel, ...],
    wanted: Mapping[tuple[int, int], str | None],
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    yield from picture_batches(scorer_of(spec, wheels), wanted, _items(batches))


def _items(batches: Iterable[pa.RecordBatch]) -> Iterator[WorkItem]:
    for batch in batches:
        for heap in batch.column(0):
            for values in heap.as_py():
                yield WorkItem(**{**values, "excluded": tuple(values["excluded"])})


_current: Scorer | None = None


def scorer_of(spec: JobSpec, wheels: tuple[ExecutorWheel, ...]) -> Scorer:
    global _current  # noqa: PLW0603 - Spark reuses its Python processes; importing plugins again would cost seconds
    if _current is None or _current.spec != spec:
        if _current is not None:
            _current.close()
        arrived(wheels)
        _current = Scorer(spec)
        spare_what_is_loaded()
    return _current
