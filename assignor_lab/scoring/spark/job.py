"""The Spark job: work items in, rows out, through ``mapInArrow`` on a DataFrame only.

So it runs on a local master, on a cluster and through Spark Connect. Items are small (a history is a seed), and each
Python process of an executor finds the plugins once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
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
    block_batches,
    picture_batches,
    scored_schema,
)
from assignor_lab.scoring.engine.blocks import RunPart
from assignor_lab.scoring.engine.engine import BlockWork
from assignor_lab.scoring.engine.exclusion import PenaltyRules
from assignor_lab.scoring.output.tables import block_schema
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel, arrived

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["answers_frame", "blocks_frame", "ddl_of", "items_frame", "pictures_frame", "scorer_of"]

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
    ]
)
_HEAP_SCHEMA = pa.schema([pa.field("items", pa.list_(_ITEM_TYPE), nullable=False)])
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


def blocks_frame(
    spark: SparkSession,
    work: BlockWork,
    tasks: Sequence[tuple[int, ...]],
    wheels: tuple[ExecutorWheel, ...] = (),
) -> DataFrame:
    """The rows of some blocks, a partition for each task.

    Args:
        tasks: The numbers of their blocks.
        wheels: Plugins that the executors have as wheels.
    """
    first = work.part.first_block
    # A whole part, a block for each task, needs no list of its blocks.
    is_plain = len(tasks) == work.part.blocks and all(task == (first + at,) for at, task in enumerate(tasks))
    task = _BlockTask(work.spec, wheels, work.part, work.rules, work.points, None if is_plain else tuple(tasks))
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    return numbers.mapInArrow(task, ddl_of(block_schema(scored_schema(work.spec))))


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


@attrs.frozen
class _BlockTask:
    """Numbers of tasks in, rows of their blocks out.

    Args:
        tasks: Numbers of the blocks of each task; ``None``: one of the part for each, in order.
    """

    spec: JobSpec
    wheels: tuple[ExecutorWheel, ...]
    part: RunPart
    rules: PenaltyRules
    points: Mapping[str, int]
    tasks: tuple[tuple[int, ...], ...] | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                scorer = scorer_of(self.spec, self.wheels)
                for block in (self.part.first_block + place,) if self.tasks is None else self.tasks[place]:
                    yield from block_batches(scorer, block, self.part.block(block), self.rules, self.points)


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
