"""The work of one scorer: items in, rows and pictures out, as batches of Arrow. No Spark."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

import pyarrow as pa

from assignor_lab.groups.columns import KEYS
from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.engine.exclusion import PenaltyRules, RunExclusions, ScoredRow
from assignor_lab.scoring.output.summary_file import picture_document
from assignor_lab.scoring.output.tables import block_schema, rows_schema

__all__ = ["PICTURE_SCHEMA", "answer_batches", "block_batches", "picture_batches", "scored_schema"]

BATCH_ROWS = 512
_KEY_NAMES = tuple(column.name for column in KEYS)

#: The full picture of a state, as JSON.
PICTURE_SCHEMA = pa.schema(
    [
        pa.field("item", pa.int64(), nullable=False),
        pa.field("round", pa.int32(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
    ]
)


def scored_schema(spec: JobSpec) -> pa.Schema:
    """The columns of :func:`~assignor_lab.scoring.output.tables.rows_schema` for a run."""
    return rows_schema(spec.metrics, spec.kind.load().columns, raw=spec.raw)


def answer_batches(scorer: Scorer, items: Iterable[WorkItem]) -> Iterator[pa.RecordBatch]:
    """The rows of all answers to ``items``, in the columns of :func:`scored_schema`."""
    yield from _batches((scorer.rows(item) for item in items), scored_schema(scorer.spec))


def block_batches(
    scorer: Scorer, number: int, items: Iterable[WorkItem], rules: PenaltyRules, points: Mapping[str, int] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a block in their final order, with its number.

    Args:
        points: Penalty points of plugins before the block.
    """
    exclusions = RunExclusions(rules, points)

    def found() -> Iterator[list[ScoredRow]]:
        for item in items:
            rows = scorer.rows(exclusions.marked(item))
            exclusions.see(rows)
            yield [{"block": number, **row} for row in sorted(rows, key=itemgetter(*_KEY_NAMES))]

    yield from _batches(found(), block_schema(scored_schema(scorer.spec)))


def _batches(found: Iterable[Sequence[ScoredRow]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    rows: list[ScoredRow] = []
    for some in found:
        rows += some
        if len(rows) >= BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(rows, schema=schema)
            rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


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
