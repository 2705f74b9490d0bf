"""A run in waves: so many work items at a time that memory stays flat and progress shows every few seconds.

How large the waves are depends on the machine and shows in no result: the rows come out in their final order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic

import attrs
import pyarrow as pa
from pyspark.sql import SparkSession

from assignor_lab.scoring.job import answers_frame, items_frame
from assignor_lab.scoring.rows import KEYS
from assignor_lab.scoring.sources import Plan
from assignor_lab.scoring.work import JobSpec, WorkItem

__all__ = ["JobFailedError", "Progress", "waves"]

#: How long a wave should take, in seconds.
WAVE_SECONDS = 4.0
#: Work items of the first wave for each task that runs at a time.
FIRST_WAVE_ITEMS = 32
#: Largest wave, in work items, and in bytes of the scenarios among them.
MAX_WAVE_ITEMS = 20_000
MAX_WAVE_BYTES = 64 * 2**20
#: Rows that a wave should not exceed: the driver holds those of a few waves.
MAX_WAVE_ROWS = 200_000
#: Waves under way at a time: the next one fills cores that the last pieces of this one leave idle.
IN_FLIGHT = 2
_TAG = "assignor-score"


class JobFailedError(Exception):
    """Spark gave a job up; the message is one line, the cause has the rest."""


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
            while len(under_way) < IN_FLIGHT and (items := _taken(work, size)):
                under_way.append((len(items), executor.submit(_wave, spark, _dealt(items, parallelism), spec)))
            if not under_way:
                break
            count, future = under_way.pop(0)
            table = _result(future)
            now = monotonic()
            # The first wave pays for starting the workers: it says nothing of the rest.
            if done:
                size = _next_size(size, count, table.num_rows, now - last)
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


def _taken(work: Iterator[WorkItem], size: int) -> list[WorkItem]:
    """The next items: at most ``size``, and not many more bytes than a wave may have."""
    items: list[WorkItem] = []
    held = 0
    while len(items) < size and held < MAX_WAVE_BYTES and (item := next(work, None)) is not None:
        items.append(item)
        held += len(item.document or "")
    return items


def _next_size(size: int, count: int, rows: int, seconds: float) -> int:
    in_time = count / max(seconds, 0.001) * WAVE_SECONDS
    in_rows = MAX_WAVE_ROWS * count // max(rows, 1)
    return int(max(min(max(in_time, size / 2), size * 4, MAX_WAVE_ITEMS, in_rows), 1))


def _result(future: Future[pa.Table]) -> pa.Table:
    try:
        return future.result()
    except Exception as error:
        text = str(error)
        if "Python worker exited unexpectedly" in text or "Python worker failed" in text:
            reason = "a plugin ended the Python process that it ran in; leave it out, or find it by naming fewer"
        else:
            # Spark's text begins with generalities; what happened stands in the last line of the worker's error.
            worker = [line.strip() for line in text.partition("JVM stacktrace:")[0].splitlines() if line.strip()]
            reason = worker[-1] if worker else type(error).__name__
        raise JobFailedError(f"Spark gave the job up: {reason}") from error


def _dealt(items: list[WorkItem], hands: int) -> list[WorkItem]:
    """Spark cuts the list into equal pieces; neighbours (a family, a file) cost alike, so they are dealt out."""
    return [item for hand in range(hands) for item in items[hand::hands]]


def _wave(spark: SparkSession, items: list[WorkItem], spec: JobSpec) -> pa.Table:
    spark.addTag(_TAG)
    table = answers_frame(items_frame(spark, items), spec).toArrow()
    return table.sort_by([(key, "ascending") for key in KEYS])


def _states(table: pa.Table) -> int:
    return len(table.group_by(["item", "round"]).aggregate([]))
