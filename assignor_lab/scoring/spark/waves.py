"""A run in waves: so much work at a time that memory stays flat and what is done is written down every few seconds.

How large the waves are depends on the machine and shows in no result: the rows come out in their final order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

import attrs
import pyarrow as pa
from pyspark.sql import SparkSession

from assignor_lab.groups.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.costs import Costs, dealt
from assignor_lab.scoring.engine import JobFailedError, Wave, Work
from assignor_lab.scoring.exclusion import RunExclusions
from assignor_lab.scoring.schema import KEY_NAMES, rows_schema
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel
from assignor_lab.scoring.spark.failures import last_line
from assignor_lab.scoring.spark.job import answers_frame, items_frame

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

    def grown(self, wave: Wave) -> None:
        self.rows_of_item = max(wave.rows.num_rows / wave.items, 1.0)
        in_rows = int(MAX_WAVE_ROWS / self.rows_of_item)
        self.items = max(1, min(self.items * 4, MAX_WAVE_ITEMS, in_rows))


def waves(
    spark: SparkSession, work: Work, parallelism: Callable[[], int], wheels: tuple[ExecutorWheel, ...] = ()
) -> Iterator[Wave]:
    """The rows of all answers, sorted by item, round and assignor, a table for each wave.

    Args:
        spark: Classic or Connect session.
        work: What is to be worked through.
        parallelism: Tells how many tasks run at a time; executors may come and go.
        wheels: Plugins that the executors have as wheels.

    Raises:
        JobFailedError: if Spark gave up.
    """
    spec, exclusions = work.spec, work.exclusions
    items_left = islice(work.plan.work(), work.done, None)
    costs = Costs(work.sizes)
    schema = rows_schema(spec.metrics, spec.kind.load().columns, raw=spec.raw)
    size = _Sizes(parallelism() * FIRST_WAVE_ITEMS)
    executor = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="assignor-score")
    under_way: list[tuple[list[WorkItem], Future[pa.Table]]] = []
    held: list[WorkItem] = []
    try:
        while True:
            while len(under_way) < IN_FLIGHT:
                hands = parallelism()
                if not under_way:
                    held = held or list(islice(items_left, 1))
                    exclusions.all_seen_before(held[0].number if held else 0)
                items = _taken(held, items_left, size.items, costs, hands, exclusions)
                if not items:
                    break
                items = [exclusions.marked(item) for item in items]
                heaps = dealt(items, hands, costs.of)
                under_way.append((items, executor.submit(_scored, spark, heaps, spec, wheels, schema)))
            if not under_way:
                break
            items, future = under_way.pop(0)
            wave = Wave(len(items), _result(future))
            exclusions.see(wave.rows, items[-1].number + 1)
            costs.learn(items, wave.rows)
            size.grown(wave)
            yield wave
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
    exclusions: RunExclusions,
) -> list[WorkItem]:
    """The next items: at most ``most``, and not many more bytes and milliseconds than a wave may have.

    Args:
        held: An item that was read too many; what is left over is put there.
        work: The rest of the items.
        most: Most items.
        costs: What they cost.
        hands: Tasks that run at a time.
        exclusions: Says which items must wait until more is known.
    """
    budget = hands * WAVE_SECONDS * 1000 * WORKING_SHARE
    items: list[WorkItem] = []
    of_unknown = read = 0
    while len(items) < most and read < MAX_WAVE_BYTES and budget > 0:
        item = held.pop() if held else next(work, None)
        if item is None:
            break
        if not exclusions.may_take(item.number):
            held.append(item)
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


def _result(future: Future[pa.Table]) -> pa.Table:
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
    spec: JobSpec,
    wheels: tuple[ExecutorWheel, ...],
    schema: pa.Schema,
) -> pa.Table:
    spark.addTag(_TAG)
    table = answers_frame(items_frame(spark, heaps), spec, wheels).toArrow()
    return table.select(schema.names).cast(schema).sort_by([(key, "ascending") for key in KEY_NAMES])
