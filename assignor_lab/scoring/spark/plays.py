"""Numbered plays on Spark's executors: ``plan --master``."""

from __future__ import annotations

import copyreg
import io
import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import pyarrow as pa

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources
from assignor_lab.planning.predict import Terms
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scoring.engine.engine import JobFailedError
from assignor_lab.scoring.spark.failures import last_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["PlayFailedError", "plays_on_spark"]

V = TypeVar("V")

#: Plays of one job for each simultaneous task: results arrive, and progress shows, after each job.
_PLAYS_OF_TASK = 4
#: Simultaneous tasks of a session that does not show their number.
_TASKS = 4
_DDL = "number BIGINT, found STRING"
_SCHEMA = pa.schema([pa.field("number", pa.int64()), pa.field("found", pa.string())])


class PlayFailedError(AssignorLabError):
    """The assignor or the configuration does not allow a play; raised again with its message."""


def plays_on_spark(
    spark: SparkSession,
    work: Callable[[int], V],
    count: int,
    written: Callable[[V], Any],
    read: Callable[[Any], V],
    tasks: int | None = None,
) -> Iterator[V]:
    """Yields ``work(0)`` to ``work(count - 1)`` in this order, equal to those of this machine.

    Args:
        spark: Classic or Connect session with fit executors.
        work: A partial function of a module; its terms find their plugins again on each executor.
        count: How often it is called.
        written: The JSON of a result. Pickles go from the driver to the executors only.
        read: A result from its JSON.
        tasks: Number of simultaneous tasks; ``None``: unknown.

    Raises:
        PlayFailedError: if a play cannot be.
        JobFailedError: if Spark failed.
    """
    call, packed = partial(_found, written), _packed(work)
    size = (tasks or _TASKS) * _PLAYS_OF_TASK
    for first in range(0, count, size):
        numbers = list(range(first, min(count, first + size)))
        frame = spark.createDataFrame(pa.table({"number": numbers})).repartition(min(len(numbers), tasks or _TASKS))
        try:
            rows = frame.mapInArrow(partial(call, packed), _DDL).toArrow().to_pylist()
        except Exception as error:
            raise JobFailedError(f"Spark gave the job up: {last_line(error)}") from error
        for row in sorted(rows, key=lambda row: row["number"]):
            found = json.loads(row["found"])
            if "error" in found:
                raise PlayFailedError(found["error"])
            yield read(found["result"])


def _found(written: Callable[[Any], Any], packed: bytes, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    work = _unpacked(packed)
    for batch in batches:
        for number in batch.column(0).to_pylist():
            try:
                found = {"result": written(work(number))}
            except AssignorLabError as error:
                found = {"error": str(error)}
            yield pa.RecordBatch.from_pylist([{"number": number, "found": json.dumps(found)}], schema=_SCHEMA)


# --- the work on its way ----------------------------------------------------------------------------------------------


def _read_only(held: dict[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(held)


def _terms_there(fields: dict[str, Any]) -> Terms:
    sources: ConfigSources = fields["sources"]
    return Terms(discovered(sources.effective()).registry, **fields)


def _terms_here(terms: Terms) -> tuple[Callable[[dict[str, Any]], Terms], tuple[dict[str, Any]]]:
    """Without the plugins: an executor finds its own."""
    names = [field.name for field in attrs.fields(Terms) if field.name != "registry"]
    return _terms_there, ({name: getattr(terms, name) for name in names},)


class _Pickler(pickle.Pickler):
    dispatch_table = copyreg.dispatch_table.copy()
    dispatch_table[MappingProxyType] = lambda view: (_read_only, (dict(view),))
    dispatch_table[Terms] = _terms_here


def _packed(work: object) -> bytes:
    target = io.BytesIO()
    _Pickler(target, protocol=5).dump(work)
    return target.getvalue()


@cache
def _unpacked(packed: bytes) -> Callable[[int], Any]:
    work: Callable[[int], Any] = pickle.loads(packed)  # noqa: S301 - made by the driver
    return work
