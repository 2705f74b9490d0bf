"""A run in waves: so much work at a time that memory stays flat and what is done is written down every few seconds.

How large the waves are depends on the machine and shows in no result: the rows come out in their final order. Whether a
plugin is still asked in an item may not be known yet when the item is sent: then whoever scores it guesses, and where
the guess was wrong the item is worked on once more (:mod:`assignor_lab.scoring.settling`).
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
from assignor_lab.scoring.batches import scored_schema
from assignor_lab.scoring.costs import Costs, dealt
from assignor_lab.scoring.engine import JobFailedError, Wave, Work
from assignor_lab.scoring.output.pieces import NOTED, read_rows, unpacked
from assignor_lab.scoring.schema import KEY_NAMES
from assignor_lab.scoring.settling import Came, settled
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel
from assignor_lab.scoring.spark.failures import last_line
from assignor_lab.scoring.spark.job import items_frame, pieces_frame
from assignor_lab.scoring.speculation import MARK, Speculation

__all__ = ["NoRoomError", "waves"]

#: How the error of a full disk reads, in any process.
_NO_ROOM = "No space left on device"

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
_ORDER = [(key, "ascending") for key in KEY_NAMES]


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
    spark: SparkSession,
    work: Work,
    parallelism: Callable[[], int],
    wheels: tuple[ExecutorWheel, ...] = (),
    on_unseen: Callable[[], None] = lambda: None,
) -> Iterator[Wave]:
    """The rows of all answers, a wave at a time, in the order of the plan.

    Args:
        spark: Classic or Connect session.
        work: What is to be worked through.
        parallelism: Tells how many tasks run at a time; executors may come and go.
        wheels: Plugins that the executors have as wheels.
        on_unseen: Called with each wave of which somebody did not see the folder for pieces.

    Raises:
        JobFailedError: if Spark gave up.
    """
    exclusions = work.exclusions
    items_left = islice(work.plan.work(), work.done, None)
    costs = Costs(work.sizes)
    size = _Sizes(parallelism() * FIRST_WAVE_ITEMS)
    # One more than waves: items that are worked on once more do not wait for those that were sent after them.
    executor = ThreadPoolExecutor(IN_FLIGHT + 1, thread_name_prefix="assignor-score")
    under_way: list[tuple[list[WorkItem], Future[Came]]] = []
    held: list[WorkItem] = []

    def sent(items: Sequence[WorkItem]) -> Future[Came]:
        """The rows of items, once they are there; somebody is working on them."""
        heaps = dealt(items, parallelism(), costs.of)
        return executor.submit(_scored, spark, heaps, work, wheels, exclusions.speculation(len(heaps)))

    def again(items: list[WorkItem]) -> Came:
        came = _result(sent(items), work.pieces)
        costs.learn(items, came.rows)
        return came

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
            came = _result(future, work.pieces)
            costs.learn(items, came.rows)
            size.grown(len(items), came.rows)
            if work.pieces is not None and not came.pieces:
                on_unseen()
            yield from settled(items, came, exclusions, again)
    except BaseException:
        # Ctrl-C, or a failed job: what still runs is for nobody. Who presses it twice is shown no traceback of py4j's.
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


class NoRoomError(AssignorLabError):
    """An executor could not write rows because its disk is full."""


def _result(future: Future[Came], place: Path | None) -> Came:
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
    work: Work,
    wheels: tuple[ExecutorWheel, ...],
    speculation: Speculation | None,
) -> Came:
    spark.addTag(_TAG)
    # What a heap has lost so far is what its guesses go by: so its items come in their order.
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
        """All rows, which are nowhere else from now on."""
        unseen = (unpacked(each["rows"]) for each in found if each["rows"] is not None)
        rows = marked(pa.concat_tables(chain(map(read_rows, files), unseen))).select(schema.names).cast(schema)
        for file in files:
            file.unlink()
        return rows.sort_by(_ORDER)

    if len(files) == len(found):
        noted = marked(pa.concat_tables([read_rows(file, NOTED) for file in files]))
        # Who has to be asked whether guesses were right is shown items in their order.
        return Came(noted if speculation is None else noted.sort_by(_ORDER), tuple(files), everything)
    # Some of those who scored do not see the folder: then all rows are written down here.
    return Came(everything())
