"""The rows of a run on any path that Spark can write: local, ``hdfs://``, ``s3a://``, ``gs://``, ``abfss://``.

Spark writes a folder for each part of the run, with a file for each task. A part counts once the table of
progress beside the rows names it; of a part that stopped early the complete blocks are kept.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa

from assignment_api import AssignorLabError
from assignor_lab.scoring.engine.blocks import RunPart
from assignor_lab.scoring.engine.costs import Spent
from assignor_lab.scoring.engine.engine import RowsTarget
from assignor_lab.scoring.engine.exclusion import LOSSY_COLUMNS, LOSSY_SQL
from assignor_lab.scoring.engine.rows_folder import PartRows, ResumeError, Terms, check_equal_terms
from assignor_lab.scoring.output.tables import BLOCK, KEY_NAMES
from assignor_lab.scoring.spark.failures import last_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

__all__ = ["PathError", "PathOutput", "is_spark_path"]

ROWS, PROGRESS = "rows", "progress"
#: Most rows for figures; of a larger run every n-th item is read.
MOST_ROWS = 200_000
_PROGRESS_DDL = "part INT, salt STRING, terms STRING, items BIGINT, seconds DOUBLE"
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
class _Noted:
    """A row of the table of progress; that of the beginning has the terms."""

    part: int
    salt: str
    terms: str
    items: int
    seconds: float


@attrs.define(eq=False)
class PathOutput:
    """The rows, and later the figures, of one run on a path.

    Args:
        path: URL of the folder.
        resume: Continue a stopped run of the same terms.
        table: Name of a table of Spark's catalog for the rows; ``None``: a folder.
        format: Format of the table, such as ``delta`` or ``iceberg``.
    """

    spark: SparkSession
    path: str
    resume: bool = False
    table: str | None = None
    format: str = "parquet"
    #: Number of each complete part to the time of the run until then.
    _done: dict[int, float] = attrs.field(factory=dict, init=False)
    _is_old: bool = attrs.field(default=False, init=False)

    def open(self, terms: Terms) -> None:
        """Reads the progress of a stopped run, or begins a new one.

        Raises:
            ResumeError: if the stopped run was another one.
            PathError: if the path holds a run and ``resume`` is false, or cannot be read or written.
        """
        found = self._progress()
        if found is None:
            if self.table is not None and self._has_table(self.table):
                raise PathError(f"the table {self.table} exists: choose another --table, or drop it")
            salt = os.urandom(16)
            self._note(_BEGIN, 0, 0.0, salt.hex(), json.dumps(dict(terms(salt))))
            return
        if not self.resume:
            raise PathError(
                f"{self.path} holds a run: continue it with --resume, choose another --out, or remove the folder"
            )
        begun = next((row for row in found if row.part == _BEGIN), None)
        if begun is None:
            raise ResumeError(f"{self.path}/{PROGRESS} has no beginning: choose another --out, or remove the folder")
        check_equal_terms(json.loads(begun.terms), terms(bytes.fromhex(begun.salt)))
        self._is_old = True
        self._done = {row.part: row.seconds for row in found if row.part != _BEGIN}

    @property
    def seconds(self) -> float:
        """Time of the stopped run."""
        return max(self._done.values(), default=0.0)

    def target(self, part: RunPart) -> RowsTarget:
        return RowsTarget(f"{self.path}/{ROWS}/part={part.number:05}", format=self.format, table=self.table)

    def missing(self, part: RunPart) -> tuple[int, ...]:
        """Numbers of the blocks that are not written; all of them if a file of the part cannot be read."""
        numbers = range(part.first_block, part.first_block + part.blocks)
        if part.number in self._done:
            return ()
        try:
            rows = self._rows_of(part) if self._is_old else None
            found = set() if rows is None else {row[0] for row in rows.select(BLOCK).distinct().collect()}
        except Exception:  # noqa: BLE001 - no folder, or an incomplete file: the part is written anew
            found = set()
        return tuple(number for number in numbers if number not in found)

    def written(self, part: RunPart) -> tuple[int, int]:
        """The number of complete blocks is known at the end of a part only."""
        return (part.blocks, 0) if part.number in self._done else (0, 0)

    def note(self, part: RunPart, seconds: float) -> None:
        if part.number not in self._done:
            self._note(part.number, part.items, seconds)
            self._done[part.number] = seconds

    def seen(self, part: RunPart, *, losses: bool) -> PartRows:
        """The rows of a complete part, as far as the run needs them; without losses if they do not matter.

        Raises:
            PathError: if they cannot be read.
        """
        from pyspark.sql import functions as f

        try:
            rows = self._rows_of(part)
            times = (f.sum(name).alias(name) for name in ("build_ms", "assign_wall_ms", "metrics_ms"))
            states = f.count_distinct("item", "round").alias("states")
            (found,) = rows.agg(f.count(f.lit(1)).alias(ROWS), states, *times).collect()
            lossy = rows.filter(LOSSY_SQL).select(*LOSSY_COLUMNS).toArrow().to_pylist() if losses else []
        except Exception as error:
            raise self._failed("read", error) from error
        return PartRows(int(found[ROWS]), int(found["states"]), _spent(found), tuple(lossy))

    def sample(self, rows: int) -> tuple[pa.Table, int]:
        """The rows for figures in order, and n: every n-th item is among them.

        Args:
            rows: Number of all rows.
        """
        every = -(-max(rows, 1) // MOST_ROWS)
        try:
            frame = (
                self.spark.read.parquet(f"{self.path}/{ROWS}") if self.table is None else self.spark.table(self.table)
            )
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

    def _rows_of(self, part: RunPart) -> DataFrame:
        if self.table is None:
            return self.spark.read.parquet(self.target(part).url)
        return self.spark.table(self.table).filter(f"part = {part.number}")

    def _has_table(self, name: str) -> bool:
        try:
            return self.spark.catalog.tableExists(name)
        except Exception as error:
            raise PathError(
                f"--table {name:.80}: {last_line(error)}: give a name of Spark's catalog, such as nights.scores"
            ) from error

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

    def _note(self, part: int, items: int, seconds: float, salt: str = "", terms: str = "") -> None:
        row = self.spark.createDataFrame([(part, salt, terms, items, seconds)], _PROGRESS_DDL)
        try:
            row.coalesce(1).write.mode("append").parquet(f"{self.path}/{PROGRESS}")
        except Exception as error:
            raise self._failed("write", error) from error

    def _failed(self, verb: str, error: Exception) -> PathError:
        return PathError(f"{self.path}: Spark cannot {verb} it ({_cause_of(error)}): {_REMEDY}")


def _spent(times: Row) -> Spent:
    return Spent(*(float(times[name] or 0.0) for name in ("build_ms", "assign_wall_ms", "metrics_ms")))


def _cause_of(error: Exception) -> str:
    """The first exception of Java in an error, which names the cause; the last one is Spark's own."""
    lines = [line.removeprefix(": ").strip() for line in str(error).splitlines()]
    return next((line[:300] for line in lines if _names_exception(line)), last_line(error))


def _names_exception(line: str) -> bool:
    name, colon, _ = line.partition(":")
    return bool(colon) and " " not in name and name.endswith(("Exception", "Error"))
