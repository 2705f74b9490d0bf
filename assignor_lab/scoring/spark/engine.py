"""The engine on Spark: classic or Connect, on this machine or a cluster."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as Late
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import attrs
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from assignment_api import AssignorLabError
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.engine.batches import scored_schema
from assignor_lab.scoring.engine.engine import BlockWork, JobFailedError, Pictures
from assignor_lab.scoring.engine.rows_folder import write_block
from assignor_lab.scoring.output.summary_file import picture_of
from assignor_lab.scoring.output.tables import BLOCK, KEY_NAMES, block_schema
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel, terms_of
from assignor_lab.scoring.spark.failures import last_line
from assignor_lab.scoring.spark.job import blocks_frame, items_frame, pictures_frame
from assignor_lab.scoring.spark.mapped import mapped_on_spark
from assignor_lab.scoring.spark.session import master_of, parallelism_of
from assignor_lab.scoring.spark.tasks import tasks_of

__all__ = ["NoRoomError", "OnSpark"]

_UNSEEN = (
    "executors do not see the output folder, so all rows are written by the driver: with --out on a file system that "
    "they share, each writes its own"
)
_NO_ROOM = "No space left on device"
_TAG = "assignor-score"
#: Seconds between two looks at the finished blocks.
_TICK_SECONDS = 0.5
#: Interrupts of an unwanted job, one each tick.
_MOST_INTERRUPTS = 10
#: Each task has one file, which is complete or absent, and stays if the job ends early.
_BY_TASK = {"mapreduce.fileoutputcommitter.algorithm.version": "2", "maxRecordsPerFile": "0"}
#: Tasks for each core whose rows pass through the driver at a time if executors do not see the folder.
_PASSING = 2

V = TypeVar("V")

#: Assumed number of simultaneous tasks for a session without this number.
UNKNOWN_PARALLELISM = 4


class NoRoomError(AssignorLabError):
    """An executor could not write rows because its disk is full."""


@attrs.define(eq=False)
class OnSpark:
    """Scores on Spark."""

    spark: SparkSession
    wheels: tuple[ExecutorWheel, ...] = ()
    known_cores: int | None = None
    on_note: Callable[[str], None] = lambda _note: None
    _is_seen: bool | None = attrs.field(default=None, init=False)

    @property
    def cores(self) -> int | None:
        return parallelism_of(self.spark) or self.known_cores

    @property
    def versions(self) -> Mapping[str, str]:
        java = _java_version(self.spark)
        return {"pyspark": metadata.version("pyspark")} | ({} if java is None else {"java": java})

    @property
    def terms(self) -> Mapping[str, str]:
        return terms_of(self.wheels)

    def write(self, work: BlockWork, on_tick: Callable[[], None]) -> None:
        folder = work.target.folder
        tasks = tasks_of(work, self.cores)
        if folder is not None and not self._sees(folder):
            self._pass_through(work, tasks, folder, on_tick)
            return
        frame = self.frame(work, tasks)
        text = f"assignor score: part {work.part.number}, {len(work.blocks)} blocks"
        self._run(lambda: _write(frame, work), text, work.target.url, on_tick)

    def frame(self, work: BlockWork, tasks: Sequence[tuple[int, ...]]) -> DataFrame:
        """The rows of the blocks of some tasks, a partition for each task."""
        return blocks_frame(self.spark, work, tasks, self.wheels)

    def mapped(self, call: Callable[[V], Any], values: Sequence[V], seen: Path) -> list[Any]:
        """The results of ``call`` for ``values``; by the executors that see the folder, and otherwise here."""
        found = mapped_on_spark(self.spark, call, values, seen) if values else {}
        return [found[number] if number in found else call(value) for number, value in enumerate(values)]

    def pictures(
        self, spec: JobSpec, items: Iterable[WorkItem], wanted: Mapping[tuple[int, int], str | None]
    ) -> Pictures:
        frame = items_frame(self.spark, [[item] for item in items])
        table = pictures_frame(frame, spec, wanted, self.wheels).toArrow()
        return {
            (row["item"], row["round"]): picture_of(json.loads(row["detail"]))
            for row in table.select(["item", "round", "detail"]).to_pylist()
        }

    def _sees(self, folder: Path) -> bool:
        """True if all executors see the run's folder; reports it once if they do not."""
        if self._is_seen is None:
            folder.mkdir(parents=True, exist_ok=True)
            self._is_seen = (master_of(self.spark) or "").startswith("local") or self._all_see(str(folder))
            if not self._is_seen:
                self.on_note(_UNSEEN)
        return self._is_seen

    def _all_see(self, folder: str) -> bool:
        tasks = 2 * (self.cores or UNKNOWN_PARALLELISM)

        def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            seen = os.access(folder, os.R_OK | os.W_OK | os.X_OK)
            for batch in batches:
                yield pa.RecordBatch.from_pydict({"seen": pa.array([seen] * batch.num_rows)})

        found = self.spark.range(0, tasks, 1, tasks).mapInArrow(look, "seen BOOLEAN").toArrow()
        return all(found["seen"].to_pylist())

    def _pass_through(
        self, work: BlockWork, tasks: Sequence[tuple[int, ...]], folder: Path, on_tick: Callable[[], None]
    ) -> None:
        """Writes the rows of some tasks at a time here."""
        some = _PASSING * (self.cores or UNKNOWN_PARALLELISM)
        schema = scored_schema(work.spec)
        for start in range(0, len(tasks), some):
            frame = self.frame(work, tasks[start : start + some])
            text = f"assignor score: part {work.part.number}, blocks through the driver"
            rows: pa.Table = self._run(frame.toArrow, text, None, on_tick)
            rows = rows.cast(block_schema(schema)).sort_by([(key, "ascending") for key in (BLOCK, *KEY_NAMES)])
            first = 0
            for found in rows[BLOCK].combine_chunks().value_counts().to_pylist():
                write_block(folder, found["values"], schema, rows.slice(first, found["counts"]).to_batches())
                first += found["counts"]

    def _run(self, call: Callable[[], V], text: str, place: str | None, on_tick: Callable[[], None]) -> V:
        """The result of a job in another thread, so that Ctrl-C ends it and its progress is shown."""
        executor = ThreadPoolExecutor(1, thread_name_prefix="assignor-score")

        def job() -> V:
            self.spark.addTag(_TAG)
            _describe(self.spark, text)
            return call()

        future = executor.submit(job)
        try:
            while True:
                try:
                    return _result(future, place)
                except Late:
                    on_tick()
        except BaseException:
            # Ctrl-C, or a failed job: the rest of the work is unwanted. A second Ctrl-C shows no traceback of py4j.
            logging.disable()
            try:
                # A job that is still planned has nothing to interrupt yet; the end of the session ends the rest.
                for _ in range(_MOST_INTERRUPTS):
                    self.spark.interruptTag(_TAG)
                    if wait([future], _TICK_SECONDS).done:
                        break
            finally:
                logging.disable(logging.NOTSET)
            raise
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


def _write(frame: DataFrame, work: BlockWork) -> None:
    from pyspark.sql import functions as f

    target = work.target
    if target.table is None:
        mode = "overwrite" if work.is_new else "append"
        frame.write.format(target.format).options(**_BY_TASK).mode(mode).save(target.url)
        return
    numbered = frame.withColumn("part", f.lit(work.part.number))
    numbered.write.format(target.format).partitionBy("part").mode("append").saveAsTable(target.table)


def _result(future: Future[V], place: str | None) -> V:
    try:
        return future.result(_TICK_SECONDS)
    except Late:
        raise
    except Exception as error:
        text = str(error)
        if "Python worker exited unexpectedly" in text or "Python worker failed" in text:
            reason = "a plugin ended the Python process that it ran in; leave it out, or find it by naming fewer"
        else:
            reason = last_line(error)
        if _NO_ROOM in text:
            also = "" if place is None else f"{place}, or "
            raise NoRoomError(
                f"no space is left on the device of {also}the temporary folder of an executor: free some, or choose "
                "another --out"
            ) from error
        raise JobFailedError(f"Spark gave the job up: {reason}") from error


def _describe(spark: SparkSession, text: str) -> None:
    try:
        spark.sparkContext.setJobDescription(text)
    except Exception:  # noqa: BLE001 - a Connect session has no job descriptions
        return


def _java_version(spark: SparkSession) -> str | None:
    try:
        return str(spark.sparkContext._jvm.System.getProperty("java.version"))  # type: ignore[union-attr]
    except Exception:  # noqa: BLE001 - a Connect session has no Java of its own to ask
        return None
