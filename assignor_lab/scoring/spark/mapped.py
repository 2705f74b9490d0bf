"""Work on the files of a run, by the executors that see them: a value in, JSON out, for each piece."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from assignor_lab.scoring.engine.engine import JobFailedError
from assignor_lab.scoring.spark.failures import last_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["mapped_on_spark"]

V = TypeVar("V")

_FOUND_SCHEMA = pa.schema([pa.field("number", pa.int64()), pa.field("found", pa.string())])
_FOUND_DDL = "number BIGINT, found STRING"


def mapped_on_spark(spark: SparkSession, call: Callable[[V], Any], values: Sequence[V], seen: Path) -> dict[int, Any]:
    """The results of ``call`` by the values' positions, without values of executors that do not see ``seen``.

    Raises:
        JobFailedError: if Spark failed.
    """
    # Pickles go from the driver to the executors only; JSON comes back.
    table = pa.table({"number": range(len(values)), "value": [pickle.dumps(value) for value in values]})
    # Spark makes as many partitions as simultaneous tasks.
    frame = spark.createDataFrame(table)
    try:
        found = frame.mapInArrow(partial(_found, call, str(seen)), _FOUND_DDL).toArrow()
    except Exception as error:
        raise JobFailedError(f"Spark gave the job up: {last_line(error)}") from error
    return {row["number"]: json.loads(row["found"]) for row in found.to_pylist() if row["found"] is not None}


def _found(call: Callable[[Any], Any], seen: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            found = {"number": row["number"], "found": _called(call, seen, row["value"])}
            yield pa.RecordBatch.from_pylist([found], schema=_FOUND_SCHEMA)


def _called(call: Callable[[Any], Any], seen: str, value: bytes) -> str | None:
    if not os.access(seen, os.R_OK | os.W_OK | os.X_OK):
        return None
    try:
        return json.dumps(call(pickle.loads(value)))  # noqa: S301 - made by the driver
    except OSError:
        # The file is not visible here yet, or the disk is full: the driver tries itself, and reports the fault.
        return None
