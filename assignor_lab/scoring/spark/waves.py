"""A run in waves: so much work at a time that memory stays flat and what is done is written down every few seconds.

How large the waves are depends on the machine and shows in no result: the rows come out in their final order. Whether a
plugin is still asked in an item may not be known yet when the item is sent: then whoever scores it guesses, and where
the guess was wrong the item is worked on once more (:mod:`assignor_lab.scoring.settling`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import attrs
import pyarrow as pa
from pyspark.sql import SparkSession

from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.batches import scored_schema
from assignor_lab.scoring.costs import Costs, dealt
from assignor_lab.scoring.engine import JobFailedError, Wave, Work
from assignor_lab.scoring.output.pieces import NOTED, read_rows, unpacked
from assignor_lab.scoring.schema import KEY_NAMES
from assignor_lab.scoring.settling import settled
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel
from assignor_lab.scoring.spark.failures import last_line
from assignor_lab.scoring.spark.job import answers_frame, items_frame, pieces_frame
from assignor_lab.scoring.speculation import Speculation

__all__ = ["waves"]

#: How long a wave should take, in seconds.
WAVE_SECONDS = 4.0
#: Work items of the first wave for each task that runs at a time, and of a source of which nothing is known.
FIRST_WAVE_ITEMS = 32
#: Share of the cores' time that goes into the work itself rather than into Spark.
WORKING_SHARE = 0.75
#: Largest wave, in work items, and in bytes of the scenarios among them.
MAX_WAVE_ITEMS = 20_000
MAX_WAVE_BYTES = 64 * 2**20
#: Rows that a wave should not exceed: the driver holds those of a few waves.
MAX_WAVE_ROWS = 200_000
#: Waves under way at a time: the next one fills cores that the last pieces of this one leave idle.
IN_FLIGHT = 2
_TAG = "assignor-score"


@attrs.define
class _Sizes:
    """How large the next wave may be."""

    items: int
    #: Rows of an item, as far as they are known.
    rows_of_item: float = 1.0

    def grown(self, items: int, rows: pa.Table) -> None:
        """Takes notice of how many rows came of so many items."""
        self.rows_of_item = max(rows.num_rows / items, 1.0)
        in_rows = int(MAX_WAVE_ROWS / self.rows_of_item)
        self.items = max(1, min(self.items * 4, MAX_WAVE_ITEMS, in_rows))


def waves(
    spark: SparkSession, work: Work, parallelism: Callable[[], int], wheels: tuple[ExecutorWheel, ...] = ()
) -> Iterator[Wave]:
    """The rows of all answers, a wave at a time, in the order of the plan.

    Args:
        spark: Classic or Connect session.
        work: What is to be worked through.
        parallelism: Tells how many tasks run at a time; executors may come and go.
        wheels: Plugins that the executors have as wheels.

    Raises:
        JobFailedError: if Spark gave up.
    """
    exclusions = work.exclusions
    items_left = islice(work.plan.work(), work.done, None)
    costs = Costs(work.sizes)
    size = _Sizes(parallelism() * FIRST_WAVE_ITEMS)
    # One more than waves: items that are worked on once more do not wait for those that were sent after them.
    executor = ThreadPoolExecutor(IN_FLIGHT + 1, thread_name_prefix="assignor-score")
    under_way: list[tuple[list[WorkItem], Future[_Came]]] = []
    held: list[WorkItem] = []

    def sent(items: Sequence[WorkItem]) -> Future[_Came]:
        """The rows of items, once they are there; somebody is working on them."""
        heaps = dealt(items, parallelism(), costs.of)
        return executor.submit(_scored, spark, heaps, work, wheels, exclusions.speculation(len(heaps)))

    def again(items: list[WorkItem]) -> pa.Table:
        rows, _ = _result(sent(items))
        costs.learn(items, rows)
        return rows

    try:
        while True:
            # Who hangs makes all that is under way wait: until that is known, or settled, nothing more is sent.
            while len(under_way) < (IN_FLIGHT if exclusions.is_calm else 1):
                if not under_way:
                    held = held or list(islice(items_left, 1))
                    exclusions.all_seen_before(held[0].number if held else 0)
                items = _taken(held, items_left, size.items, costs, parallelism())
                if not items:
                    break
                items = [exclusions.marked(item) for item in items]
                under_way.append((items, sent(items)))
            if not under_way:
                break
            items, future = under_way.pop(0)
            rows, pieces = _result(future)
            costs.learn(items, rows)
            size.grown(len(items), rows)
            if pieces:
                exclusions.see(rows, items[-1].number + 1)
                yield Wave(len(items), rows, pieces)
            else:
                yield from settled(items, rows, exclusions, again)
    except BaseException:
        # Ctrl-C, or a failed job: what still runs is for nobody.
        spark.interruptTag(_TAG)
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _taken(
    held: list[WorkItem],
    work: Iterator[WorkItem],
    most: int,
    costs: Costs,
    hands: int,
) -> list[WorkItem]:
    """The next items: at most ``most``, and not many more bytes and milliseconds than a wave may have.

    Args:
        held: An item that was read too many; what is left over is put there.
        work: The rest of the items.
        most: Most items.
        costs: What they cost.
        hands: Tasks that run at a time.
    """
    budget = hands * WAVE_SECONDS * 1000 * WORKING_SHARE
    items: list[WorkItem] = []
    of_unknown = read = 0
    while len(items) < most and read < MAX_WAVE_BYTES and budget > 0:
        item = held.pop() if held else next(work, None)
        if item is None:
            break
        if costs.knows(item.source):
            budget -= costs.of(item)
        elif items and of_unknown >= hands * FIRST_WAVE_ITEMS:
            held.append(item)
            break
        else:
            of_unknown += 1
        items.append(item)
        read += len(item.document or "")
    return items


#: The rows of a wave and the pieces that they are in, as :class:`Wave` has them.
_Came = tuple[pa.Table, tuple[Path, ...]]


def _result(future: Future[_Came]) -> _Came:
    try:
        return future.result()
    except Exception as error:
        text = str(error)
        if "Python worker exited unexpectedly" in text or "Python worker failed" in text:
            reason = "a plugin ended the Python process that it ran in; leave it out, or find it by naming fewer"
        else:
            reason = last_line(error)
        raise JobFailedError(f"Spark gave the job up: {reason}") from error


def _scored(
    spark: SparkSession,
    heaps: list[list[WorkItem]],
    work: Work,
    wheels: tuple[ExecutorWheel, ...],
    speculation: Speculation | None,
) -> _Came:
    spark.addTag(_TAG)
    # What a heap has lost so far is what its guesses go by: so its items come in their order.
    ordered = [sorted(heap, key=lambda item: item.number) for heap in heaps]
    frame, schema = items_frame(spark, ordered), scored_schema(work.spec, marked=speculation is not None)
    if speculation is not None:
        return _in_order([answers_frame(frame, work.spec, wheels, speculation).toArrow()], schema), ()
    found = pieces_frame(frame, work.spec, work.pieces, wheels).toArrow().to_pylist()
    files = [] if work.pieces is None else [work.pieces / each["file"] for each in found if each["file"] is not None]
    if len(files) == len(found):
        return pa.concat_tables([read_rows(file, NOTED) for file in files]), tuple(files)
    # Some of those who scored do not see the folder: then all rows are written down here.
    tables = [*map(read_rows, files), *(unpacked(each["rows"]) for each in found if each["rows"] is not None)]
    for file in files:
        file.unlink()
    return _in_order(tables, schema), ()


def _in_order(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    rows = pa.concat_tables([table.select(schema.names).cast(schema) for table in tables])
    return rows.sort_by([(key, "ascending") for key in KEY_NAMES])
