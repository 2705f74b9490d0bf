"""The work of one scorer: items in, rows and pictures out, as batches of Arrow. No Spark."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.engine.speculation import MARK, Speculation, Speculator
from assignor_lab.scoring.output.summary_file import picture_document
from assignor_lab.scoring.output.tables import rows_schema

__all__ = ["PICTURE_SCHEMA", "answer_batches", "picture_batches", "scored_schema"]

BATCH_ROWS = 512

#: The full picture of a state, as JSON.
PICTURE_SCHEMA = pa.schema(
    [
        pa.field("item", pa.int64(), nullable=False),
        pa.field("round", pa.int32(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
    ]
)


def scored_schema(spec: JobSpec, *, marked: bool = False) -> pa.Schema:
    """The columns of :func:`~assignor_lab.scoring.output.tables.rows_schema` for a run.

    Args:
        marked: True for a further column with the guess that a row depends on.
    """
    schema = rows_schema(spec.metrics, spec.kind.load().columns, raw=spec.raw)
    return schema.append(pa.field(MARK, pa.list_(pa.string()))) if marked else schema


def answer_batches(
    scorer: Scorer, items: Iterable[WorkItem], speculation: Speculation | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of all answers to ``items``, in the columns of :func:`scored_schema`.

    Args:
        speculation: Basis for guessing exclusions; ``None`` without guesses.
    """
    schema = scored_schema(scorer.spec, marked=speculation is not None)
    rows: list[dict[str, Any]] = []
    for found in _rows(scorer, items) if speculation is None else _marked_rows(scorer, items, speculation):
        rows += found
        if len(rows) >= BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(rows, schema=schema)
            rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def _rows(scorer: Scorer, items: Iterable[WorkItem]) -> Iterator[list[dict[str, Any]]]:
    for item in items:
        yield scorer.rows(item)


def _marked_rows(scorer: Scorer, items: Iterable[WorkItem], speculation: Speculation) -> Iterator[list[dict[str, Any]]]:
    speculator = Speculator(speculation)
    for item in items:
        guessed = speculator.marked(item)
        rows = scorer.rows(guessed)
        speculator.note(rows)
        mark = None if guessed.excluded == item.excluded else list(guessed.excluded)
        yield [{**row, MARK: mark} for row in rows]


def picture_batches(
    scorer: Scorer, wanted: Mapping[tuple[int, int], str | None], items: Iterable[WorkItem]
) -> Iterator[pa.RecordBatch]:
    for item in items:
        rows = [
            {"item": item.number, "round": number, "detail": json.dumps(picture_document(picture))}
            for number, picture in scorer.pictures(item, wanted)
        ]
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=PICTURE_SCHEMA)
