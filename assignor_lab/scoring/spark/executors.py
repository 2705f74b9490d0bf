"""The check of executors: whether they are fit for a run, asked once, before anything is scored.

The question is a function that travels as a whole, so that an executor which has nothing of this package can say so.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from importlib.metadata import version
from threading import Thread
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from assignment_api import AssignorLabError
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel, sent
from assignor_lab.scoring.spark.failures import last_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ExecutorError", "check_executors", "fit_executors"]

#: Seconds within which some executor must take the question.
PATIENCE_SECONDS = 180.0
#: Pieces that the question is cut into; Spark makes fewer where it has fewer cores.
PIECES = 64
_TAG = "assignor-score-check"
_SCHEMA = "`host` STRING, `problem` STRING"

Question = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class ExecutorError(AssignorLabError):
    """Spark's executors cannot do the work: the message says which, why, and what to do."""


def fit_executors(spark: SparkSession, master: str | None, wheels: Sequence[ExecutorWheel]) -> int | None:
    """Sends the wheels, and checks executors that are not this very environment; arguments and errors as below.

    Args:
        spark: Classic or Connect session.
        master: Spark's master; ``None``: the session is one of Spark Connect.
        wheels: Plugins that travel.

    Returns:
        How many tasks run at a time; ``None``: not asked.
    """
    sent(spark, wheels)
    if not wheels and master is not None and master.startswith("local"):
        return None
    return check_executors(spark, wheels)


def check_executors(spark: SparkSession, wheels: Sequence[ExecutorWheel] = ()) -> int:
    """Asks the executors for this package and for what the wheels need.

    Args:
        spark: Classic or Connect session, which has the wheels.
        wheels: Plugins that travel.

    Returns:
        How many tasks run at a time, as far as Spark shows it.

    Raises:
        ExecutorError: if one lacks something, or none takes the question.
    """
    pieces = pa.table({"piece": list(range(PIECES))})
    frame = spark.createDataFrame(pieces).mapInArrow(_question(version("assignor-lab"), tuple(wheels)), _SCHEMA)
    rows = _asked(spark, frame)
    problems = dict.fromkeys((row["host"], row["problem"]) for row in rows if row["problem"] is not None)
    if problems:
        (host, problem), *others = problems
        more = f" (and {len(others)} more)" if others else ""
        raise ExecutorError(f"executor on {host}: {problem}{more}")
    return len(rows)


def _asked(spark: SparkSession, frame: DataFrame) -> list[dict[str, Any]]:
    future: Future[list[dict[str, Any]]] = Future()

    def ask() -> None:
        try:
            spark.addTag(_TAG)
            future.set_result(frame.toArrow().to_pylist())
        except BaseException as error:  # noqa: BLE001 - it is told to who waits
            future.set_exception(error)

    # Nobody waits for this thread where the cluster never answers.
    Thread(target=ask, daemon=True, name="assignor-score-check").start()
    try:
        return future.result(PATIENCE_SECONDS)
    except Late:
        spark.interruptTag(_TAG)
        raise ExecutorError(
            f"no executor of Spark took any work within {PATIENCE_SECONDS:.0f} s: see whether the cluster has workers "
            "with free cores and memory"
        ) from None
    except Exception as error:
        raise ExecutorError(f"Spark's executors cannot run Python: {last_line(error)}") from error


def _question(own: str, wheels: tuple[ExecutorWheel, ...]) -> Question:
    """The function that the executors run. It must use nothing of this module, so that it is pickled by value."""
    python = ".".join(platform.python_version_tuple()[:2])
    # Their class is one that an executor may lack.
    packed = [(str(wheel.path), (wheel.name, wheel.version, wheel.sha256, wheel.needs)) for wheel in wheels]

    def answers(batches: Any) -> Any:
        import platform
        from importlib.metadata import PackageNotFoundError, version
        from pathlib import Path

        import pyarrow as pa

        for _ in batches:
            pass
        remedy = f"install assignor-lab {own} and its extra 'spark' there, for Python {python}"
        problem = None
        try:
            held = version("assignor-lab")
            if held != own:
                problem = f"it has assignor-lab {held}, and the driver {own}: {remedy}"
            else:
                from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel, problem_on_arrival

                problem = problem_on_arrival([ExecutorWheel(Path(file), *rest) for file, rest in packed])
        except (PackageNotFoundError, ImportError) as error:
            problem = f"it lacks assignor-lab ({error}): {remedy}"
        answer = {"host": platform.node(), "problem": problem}
        schema = pa.schema([("host", pa.string()), ("problem", pa.string())])
        yield pa.RecordBatch.from_pylist([answer], schema=schema)

    return answers
