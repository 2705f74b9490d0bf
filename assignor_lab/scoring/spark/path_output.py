"""The rows of a run on any path that Spark can write: local, ``hdfs://``, ``s3a://``, ``gs://``, ``abfss://``.

Spark reads blocks of items and writes their rows, a folder for each part of the run. A part counts once the table of
progress beside the rows names it, so a stopped run is resumed with its missing parts. Blocks are the order of the rows:
file *n* of a part has the rows of its block *n*.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa

from assignment_api import AssignorLabError
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.scoring.engine.blocks import RunPart
from assignor_lab.scoring.engine.costs import Spent
from assignor_lab.scoring.engine.engine import JobFailedError
from assignor_lab.scoring.engine.exclusion import RunExclusions
from assignor_lab.scoring.engine.in_process import waves_of
from assignor_lab.scoring.engine.speculation import PenaltyRules
from assignor_lab.scoring.output.journal import ResumeError, check_equal_terms
from assignor_lab.scoring.output.tables import KEY_NAMES, rows_schema
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel
from assignor_lab.scoring.spark.failures import last_line
from assignor_lab.scoring.spark.job import ddl_of, scorer_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["PathError", "PathOutput", "is_spark_path"]

ROWS, PROGRESS = "rows", "progress"
#: Column with the number of a row's block.
BLOCK = "block"
#: Most rows for figures; of a larger run every n-th item is read.
MOST_ROWS = 200_000
_PROGRESS_DDL = "part INT, salt STRING, terms STRING, rows BIGINT, items BIGINT, seconds DOUBLE"
#: Number of the row of progress with the terms.
_BEGIN = -1
_REMEDY = (
    "is the file system's package on Spark's class path (--spark-conf spark.jars.packages=...), and may it be written?"
)


class PathError(AssignorLabError):
    """A path cannot be read or written by Spark, or holds another run."""


def is_spark_path(text: str) -> bool:
    """True for a URL such as ``s3a://bucket/scores`` or ``file:///shared/scores``."""
    scheme, separator, _ = text.partition("://")
    return bool(separator) and scheme.isalnum()


@attrs.frozen
class WrittenPart:
    """A part that is complete.

    Args:
        seconds: Time of the run until then.
    """

    rows: int
    items: int
    seconds: float
    spent: Spent = attrs.field(factory=Spent)


@attrs.frozen
class _Noted:
    """A row of the table of progress; that of the beginning has the terms."""

    part: int
    salt: str
    terms: str
    rows: int
    items: int
    seconds: float


@attrs.define(eq=False)
class PathOutput:
    """The output of one run on a path.

    Args:
        path: URL of the folder.
    """

    spark: SparkSession
    path: str
    wheels: tuple[ExecutorWheel, ...] = ()
    _done: dict[int, WrittenPart] = attrs.field(factory=dict, init=False)

    def open(self, terms: Callable[[bytes], Mapping[str, str]], *, resume: bool) -> None:
        """Reads the progress of a stopped run, or begins a new one.

        Args:
            terms: From a salt to the terms of this run.

        Raises:
            ResumeError: if the stopped run was another one.
            PathError: if the path holds a run and ``resume`` is false, or cannot be read or written.
        """
        found = self._progress()
        if found is None:
            salt = os.urandom(16)
            self._note(_BEGIN, 0, 0, 0.0, salt.hex(), json.dumps(dict(terms(salt))))
            return
        if not resume:
            raise PathError(
                f"{self.path} holds a run: continue it with --resume, choose another --out, or remove the folder"
            )
        begun = next((row for row in found if row.part == _BEGIN), None)
        if begun is None:
            raise ResumeError(f"{self.path}/{PROGRESS} has no beginning: choose another --out, or remove the folder")
        check_equal_terms(json.loads(begun.terms), terms(bytes.fromhex(begun.salt)))
        for row in found:
            if row.part != _BEGIN:
                self._done[row.part] = WrittenPart(row.rows, row.items, row.seconds)

    @property
    def seconds(self) -> float:
        """Time of the stopped run."""
        return max((part.seconds for part in self._done.values()), default=0.0)

    def write(self, parts: Iterable[RunPart], spec: JobSpec, rules: PenaltyRules) -> Iterator[WrittenPart]:
        """Writes the missing parts; yields every part, once it is complete.

        Raises:
            JobFailedError: if Spark failed.
        """
        before, start = self.seconds, monotonic()
        for part in parts:
            known = self._done.get(part.number)
            if known is not None:
                yield known
                continue
            rows, spent = self._written(part, spec, rules)
            seconds = before + monotonic() - start
            self._note(part.number, rows, part.items, seconds)
            yield WrittenPart(rows, part.items, seconds, spent)

    def sample(self, rows: int) -> tuple[pa.Table, int]:
        """The rows for figures in order, and n: every n-th item is among them.

        Args:
            rows: Number of all rows.
        """
        every = -(-max(rows, 1) // MOST_ROWS)
        try:
            frame = self.spark.read.parquet(f"{self.path}/{ROWS}")
            if every > 1:
                frame = frame.filter(f"item % {every} = 0")
            table = frame.drop("part", BLOCK).toArrow()
        except Exception as error:
            raise self._failed("read", error) from error
        return table.sort_by([(key, "ascending") for key in KEY_NAMES]), every

    def publish(self, name: str, content: bytes) -> None:
        """Writes a file; through Spark Connect, which writes no single files, a folder of that name with one text file.

        Raises:
            PathError: if it cannot be written.
        """
        try:
            context = self.spark.sparkContext
        except Exception:  # noqa: BLE001 - a Connect session raises an error of its own
            context = None
        try:
            if context is None:
                text = self.spark.createDataFrame([(content.decode(),)], "value STRING")
                text.coalesce(1).write.mode("overwrite").text(f"{self.path}/{name}")
                return
            jvm: Any = context._jvm
            place = jvm.org.apache.hadoop.fs.Path(f"{self.path}/{name}")
            system = place.getFileSystem(context._jsc.hadoopConfiguration())
            stream = system.create(place, True)
            stream.write(content)
            stream.close()
        except Exception as error:
            raise self._failed("write", error) from error

    def _written(self, part: RunPart, spec: JobSpec, rules: PenaltyRules) -> tuple[int, Spent]:
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        seen = Observation()
        frame = self._frame(part, spec, rules).observe(
            seen,
            f.count(f.lit(1)).alias(ROWS),
            *(f.sum(name).alias(name) for name in ("build_ms", "assign_ms", "metrics_ms")),
        )
        self._describe(f"assignor score: part {part.number} with {part.blocks} blocks")
        try:
            frame.write.mode("overwrite").parquet(f"{self.path}/{ROWS}/part={part.number:05}")
        except Exception as error:
            raise JobFailedError(f"Spark gave the job up: {last_line(error)}") from error
        found = seen.get
        spent = Spent(*(float(found[name] or 0.0) for name in ("build_ms", "assign_ms", "metrics_ms")))
        return int(found[ROWS]), spent

    def _frame(self, part: RunPart, spec: JobSpec, rules: PenaltyRules) -> DataFrame:
        """A partition for each block, in order."""
        numbers = self.spark.range(part.first_block, part.first_block + part.blocks, 1, part.blocks)
        schema = _with_block(rows_schema(spec.metrics, spec.kind.load().columns, raw=spec.raw))
        return numbers.mapInArrow(partial(_block_rows, spec, self.wheels, part, rules), ddl_of(schema))

    def _progress(self) -> list[_Noted] | None:
        try:
            table = self.spark.read.parquet(f"{self.path}/{PROGRESS}").toArrow()
        except Exception as error:
            if "PATH_NOT_FOUND" in str(error):
                return None
            raise self._failed("read", error) from error
        try:
            return [_Noted(**row) for row in table.to_pylist()]
        except TypeError as error:
            raise PathError(f"{self.path}/{PROGRESS} is not of a run of this release: choose another --out") from error

    def _note(self, part: int, rows: int, items: int, seconds: float, salt: str = "", terms: str = "") -> None:
        row = self.spark.createDataFrame([(part, salt, terms, rows, items, seconds)], _PROGRESS_DDL)
        try:
            row.coalesce(1).write.mode("append").parquet(f"{self.path}/{PROGRESS}")
        except Exception as error:
            raise self._failed("write", error) from error

    def _describe(self, text: str) -> None:
        try:
            self.spark.sparkContext.setJobDescription(text)
        except Exception:  # noqa: BLE001 - a Connect session has no job descriptions
            return

    def _failed(self, verb: str, error: Exception) -> PathError:
        return PathError(f"{self.path}: Spark cannot {verb} it ({_cause_of(error)}): {_REMEDY}")


def _cause_of(error: Exception) -> str:
    """The first exception of Java in an error, which names the cause; the last one is Spark's own."""
    lines = [line.removeprefix(": ").strip() for line in str(error).splitlines()]
    return next((line[:300] for line in lines if _names_exception(line)), last_line(error))


def _names_exception(line: str) -> bool:
    name, colon, _ = line.partition(":")
    return bool(colon) and " " not in name and name.endswith(("Exception", "Error"))


def _with_block(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(BLOCK, pa.int64(), nullable=False), *schema])


def _block_rows(
    spec: JobSpec,
    wheels: tuple[ExecutorWheel, ...],
    part: RunPart,
    rules: PenaltyRules,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            scorer = scorer_of(spec, wheels)
            items = part.block(number)
            own = RunExclusions.of_block(rules, items[0].number, items[-1].number + 1 - items[0].number)
            for wave in waves_of(scorer, iter(items), own):
                table = wave.rows
                numbers = pa.array([number] * table.num_rows, pa.int64())
                yield from table.add_column(0, pa.field(BLOCK, pa.int64(), nullable=False), numbers).to_batches()
