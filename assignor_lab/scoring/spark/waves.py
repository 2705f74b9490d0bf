"""A run in waves: the memory stays flat, and results are written every few seconds.

The size of a wave depends on the machine and shows in no result: the rows come in their final order. The exclusion of a
plugin from an item may be unknown when the item is sent. Then the executor guesses, and a wrong guess has the item
scored again (:mod:`assignor_lab.scoring.engine.reconciliation`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path

import attrs
import pyarrow as pa
from pyspark.sql import SparkSession

from assignment_api import AssignorLabError
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.engine.batches import scored_schema
from assignor_lab.scoring.engine.costs import Costs, dealt
from assignor_lab.scoring.engine.engine import JobFailedError, RunWork, Wave
from assignor_lab.scoring.engine.reconciliation import ComputedRows, settled
from assignor_lab.scoring.engine.speculation import MARK, Speculation
from assignor_lab.scoring.output.pieces import NOTED, read_rows, unpacked
from assignor_lab.scoring.output.tables import KEY_NAMES
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel
from assignor_lab.scoring.spark.failures import last_line
from assignor_lab.scoring.spark.job import items_frame, pieces_frame

__all__ = ["NoRoomError", "waves"]

_NO_ROOM = "No space left on device"

#: Intended duration of a wave, in seconds.
WAVE_SECONDS = 4.0
#: Work items of the first wave for each simultaneous task, and of an unknown source.
FIRST_WAVE_ITEMS = 32
#: Share of the cores' time for the work itself, without Spark.
WORKING_SHARE = 0.75
#: Largest wave, in work items, and in bytes of their scenarios.
MAX_WAVE_ITEMS = 20_000
MAX_WAVE_BYTES = 64 * 2**20
#: Intended limit of a wave's rows: the driver holds those of a few waves.
MAX_WAVE_ROWS = 200_000
#: Simultaneous waves: the next one uses cores that the end of this one leaves idle.
IN_FLIGHT = 2
_TAG = "assignor-score"
_ORDER = [(key, "ascending") for key in KEY_NAMES]


@attrs.define
class _Sizes:
    items: int
    #: Rows of an item, as far as known.
    rows_of_item: float = 1.0

    def grown(self, items: int, rows: pa.Table) -> None:
        self.rows_of_item = max(rows.num_rows / items, 1.0)
        in_rows = int(MAX_WAVE_ROWS / self.rows_of_item)
        self.items = max(1, min(self.items * 4, MAX_WAVE_ITEMS, in_rows))


def waves(
    spark: SparkSession,
    work: RunWork,
    parallelism: Callable[[], int],
    wheels: tuple[ExecutorWheel, ...] = (),
    on_unseen: Callable[[], None] = lambda: None,
) -> Iterator[Wave]:
    """The rows of all answers, a wave at a time, in the order of the plan.

    Args:
        parallelism: Returns the number of simultaneous tasks; executors may come and go.
        on_unseen: Called with each wave in which an executor did not see the folder for pieces.

    Raises:
        JobFailedError: if Spark failed.
    """
    exclusions = work.exclusions
    items_left = islice(work.plan.work(), work.done, None)
    costs = Costs(work.sizes)
    size = _Sizes(parallelism() * FIRST_WAVE_ITEMS)
    # One more than waves: repeated items do not wait for later ones.
    executor = ThreadPoolExecutor(IN_FLIGHT + 1, thread_name_prefix="assignor-score")
    under_way: list[tuple[list[WorkItem], Future[ComputedRows]]] = []
    held: list[WorkItem] = []

    def sent(items: Sequence[WorkItem]) -> Future[ComputedRows]:
        heaps = dealt(items, parallelism(), costs.of)
        return executor.submit(_scored, spark, heaps, work, wheels, exclusions.speculation(len(heaps)))

    def again(items: list[WorkItem]) -> ComputedRows:
        came = _result(sent(items), work.pieces)
        costs.learn(items, came.rows)
        return came

    try:
        while True:
            # A hanging plugin blocks all work in progress, so nothing more is sent until its exclusion is decided.
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
            came = _result(future, work.pieces)
            costs.learn(items, came.rows)
            size.grown(len(items), came.rows)
            if work.pieces is not None and not came.pieces:
                on_unseen()
            yield from settled(items, came, exclusions, again)
    except BaseException:
        # Ctrl-C, or a failed job: the rest of the work is unwanted. A second Ctrl-C shows no traceback of py4j.
        logging.disable()
        try:
            spark.interruptTag(_TAG)
        finally:
            logging.disable(logging.NOTSET)
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
    """The next items: at most ``most``, with about a wave's bytes and milliseconds.

    Args:
        held: Receives an item beyond the limit.
        costs: Their costs.
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


class NoRoomError(AssignorLabError):
    """An executor could not write rows because its disk is full."""


def _result(future: Future[ComputedRows], place: Path | None) -> ComputedRows:
    try:
        return future.result()
    except Exception as error:
        text = str(error)
        if "Python worker exited unexpectedly" in text or "Python worker failed" in text:
            reason = "a plugin ended the Python process that it ran in; leave it out, or find it by naming fewer"
        else:
            reason = last_line(error)
        if _NO_ROOM in text:
            where = (
                "the temporary folder of an executor"
                if place is None
                else f"{place}, or the temporary folder of an executor"
            )
            raise NoRoomError(
                f"no space is left on the device of {where}: free some, or choose another --out"
            ) from error
        raise JobFailedError(f"Spark gave the job up: {reason}") from error


def _scored(
    spark: SparkSession,
    heaps: list[list[WorkItem]],
    work: RunWork,
    wheels: tuple[ExecutorWheel, ...],
    speculation: Speculation | None,
) -> ComputedRows:
    spark.addTag(_TAG)
    ordered = [sorted(heap, key=lambda item: item.number) for heap in heaps]
    frame, schema = items_frame(spark, ordered), scored_schema(work.spec, marked=speculation is not None)
    found = pieces_frame(frame, work.spec, work.pieces, wheels, speculation).toArrow().to_pylist()
    marks = {int(item): names for each in found for item, names in json.loads(each["marks"]).items()}
    files = [] if work.pieces is None else [work.pieces / each["file"] for each in found if each["file"] is not None]

    def marked(rows: pa.Table) -> pa.Table:
        if speculation is None:
            return rows
        field = schema.field(MARK)
        named = [marks.get(item) for item in rows["item"].to_pylist()] if marks else [None] * rows.num_rows
        return rows.append_column(field, pa.array(named, field.type))

    def everything() -> pa.Table:
        unseen = (unpacked(each["rows"]) for each in found if each["rows"] is not None)
        rows = marked(pa.concat_tables(chain(map(read_rows, files), unseen))).select(schema.names).cast(schema)
        for file in files:
            file.unlink()
        return rows.sort_by(_ORDER)

    if len(files) == len(found):
        noted = marked(pa.concat_tables([read_rows(file, NOTED) for file in files]))
        # Guesses are checked in the order of the items.
        return ComputedRows(noted if speculation is None else noted.sort_by(_ORDER), tuple(files), everything)
    # Some executors do not see the folder: then all rows are written here.
    return ComputedRows(everything())
