"""The work of whoever scores: items in, rows and pictures out, as batches of Arrow. No Spark."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from assignor_lab.groups.scorer import Scorer
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.schema import rows_schema

__all__ = ["PICTURE_SCHEMA", "answer_batches", "picture_batches"]

#: Rows that are held before they are handed on.
BATCH_ROWS = 512

#: The full picture of a state, as JSON.
PICTURE_SCHEMA = pa.schema(
    [
        pa.field("item", pa.int64(), nullable=False),
        pa.field("round", pa.int32(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
    ]
)


def answer_batches(scorer: Scorer, items: Iterable[WorkItem]) -> Iterator[pa.RecordBatch]:
    """The rows of all answers to ``items``, in the columns of :func:`~assignor_lab.scoring.schema.rows_schema`."""
    schema = rows_schema(scorer.spec.metrics, scorer.kind.columns, raw=scorer.spec.raw)
    rows = []
    for item in items:
        rows += scorer.rows(item)
        if len(rows) >= BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(rows, schema=schema)
            rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def picture_batches(
    scorer: Scorer, wanted: Mapping[tuple[int, int], str | None], items: Iterable[WorkItem]
) -> Iterator[pa.RecordBatch]:
    """The pictures of some states, in the columns of ``PICTURE_SCHEMA``.

    Args:
        scorer: Who scores.
        wanted: Pairs of item and round, each with the assignor whose state is to be shown where they differ.
        items: The items that the states belong to.
    """
    for item in items:
        rows = [
            {"item": item.number, "round": number, "detail": json.dumps(picture)}
            for number, picture in scorer.pictures(item, wanted)
        ]
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=PICTURE_SCHEMA)
