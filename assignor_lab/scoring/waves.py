"""A run in waves: so many work items at a time that memory stays flat and progress shows every few seconds.

How large the waves are depends on the machine and shows in no result: the rows come out in their final order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from time import monotonic

import attrs
import pyarrow as pa
from pyspark.sql import SparkSession

from assignor_lab.scoring.job import answers_frame, items_frame
from assignor_lab.scoring.rows import KEYS
from assignor_lab.scoring.sources import Plan
from assignor_lab.scoring.work import JobSpec, WorkItem

__all__ = ["Progress", "waves"]

#: How long a wave should take, in seconds.
WAVE_SECONDS = 4.0
#: Work items of the first wave for each task that runs at a time.
FIRST_WAVE_ITEMS = 32
#: Largest wave, in work items.
MAX_WAVE_ITEMS = 20_000
#: Waves under way at a time: the next one fills cores that the last pieces of this one leave idle.
IN_FLIGHT = 2
_TAG = "assignor-score"


@attrs.frozen
class Progress:
    """How far a run is.

    Args:
        items: Work items that are done.
        total: Work items in all.
        rows: Rows so far.
        states: States (pairs of item and round) so far.
        seconds: Time since the first wave was started.
    """

    items: int
    total: int
    rows: int
    states: int
    seconds: float


def waves(
    spark: SparkSession, plan: Plan, spec: JobSpec, parallelism: int, on_progress: Callable[[Progress], None]
) -> Iterator[pa.Table]:
    """The rows of all answers, sorted by item, round and assignor, a table for each wave.

    Args:
        spark: Classic or Connect session.
        plan: All work.
        spec: The terms of the run.
        parallelism: Tasks that run at a time.
        on_progress: Called after each wave.
    """
    work = plan.work()
    size = parallelism * FIRST_WAVE_ITEMS
    started = last = monotonic()
    done = rows = states = 0
    executor = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="assignor-score")
    under_way: list[tuple[int, Future[pa.Table]]] = []
    try:
        while True:
            while len(under_way) < IN_FLIGHT and (items := list(islice(work, size))):
                under_way.append((len(items), executor.submit(_wave, spark, _dealt(items, parallelism), spec)))
            if not under_way:
                break
            count, future = under_way.pop(0)
            table = future.result()
            now = monotonic()
            # The first wave pays for starting the workers: it says nothing of the rest.
            if done:
                size = _next_size(size, count, now - last)
            last = now
            done += count
            rows += table.num_rows
            states += _states(table)
            yield table
            on_progress(Progress(done, plan.items, rows, states, now - started))
    except BaseException:
        # Ctrl-C, or a failed job: what still runs is for nobody.
        spark.interruptTag(_TAG)
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _next_size(size: int, count: int, seconds: float) -> int:
    fitting = count / max(seconds, 0.001) * WAVE_SECONDS
    return int(min(max(fitting, size / 2, 1), size * 4, MAX_WAVE_ITEMS))


def _dealt(items: list[WorkItem], hands: int) -> list[WorkItem]:
    """Spark cuts the list into equal pieces; neighbours (a family, a file) cost alike, so they are dealt out."""
    return [item for hand in range(hands) for item in items[hand::hands]]


def _wave(spark: SparkSession, items: list[WorkItem], spec: JobSpec) -> pa.Table:
    spark.addTag(_TAG)
    table = answers_frame(items_frame(spark, items), spec).toArrow()
    return table.sort_by([(key, "ascending") for key in KEYS])


def _states(table: pa.Table) -> int:
    return len(table.group_by(["item", "round"]).aggregate([]))
