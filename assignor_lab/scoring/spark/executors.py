"""A check of the executors before the run.

The check is a function that travels as a whole, so that an executor without this package can respond, too.
"""

from __future__ import annotations

import pickle
import platform
import re
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

    from assignor_lab.scoring.spark.executor_plugins import ChosenPlugins

__all__ = ["ExecutorError", "check_executors", "fit_executors"]

#: Seconds until some executor must respond.
PATIENCE_SECONDS = 180.0
#: Partitions of the check; Spark makes fewer with fewer cores.
PIECES = 64
_TAG = "assignor-score-check"
#: Start of a problem with the run's plugins; it is not shown.
_OF_PLUGINS = "plugins: "
_SCHEMA = "`host` STRING, `problem` STRING"

Question = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class ExecutorError(AssignorLabError):
    """Spark's executors cannot do the work; the message has executor, reason and remedy."""


#: Spark's message on workers with another Python.
_OTHER_PYTHON = re.compile(r"worker has different version: ([\d.]{1,12}) than that in driver: ([\d.]{1,12})")


def fit_executors(
    spark: SparkSession, master: str | None, wheels: Sequence[ExecutorWheel], chosen: ChosenPlugins | None = None
) -> int | None:
    """Sends the wheels, and checks executors outside this environment; arguments and errors as below.

    Returns:
        Number of simultaneous tasks; ``None``: unknown.
    """
    sent(spark, wheels)
    if not wheels and master is not None and master.startswith("local"):
        return None
    return check_executors(spark, wheels, chosen)


def check_executors(
    spark: SparkSession, wheels: Sequence[ExecutorWheel] = (), chosen: ChosenPlugins | None = None
) -> int:
    """Checks the executors for this package, for the wheels' requirements and for the plugins of the run.

    Args:
        chosen: Plugins that each executor must be able to import; ``None``: none.

    Raises:
        ExecutorError: if one lacks something, or none responds.
    """
    pieces = pa.table({"piece": list(range(PIECES))})
    packed = pickle.dumps(chosen) if chosen else b""
    question = _question(version("assignor-lab"), tuple(wheels), packed)
    frame = spark.createDataFrame(pieces).mapInArrow(question, _SCHEMA)
    rows = _asked(spark, frame)
    problems = dict.fromkeys((row["host"], row["problem"]) for row in rows if row["problem"] is not None)
    if problems:
        (host, problem), *others = problems
        more = f" (and {len(others)} more)" if others else ""
        if chosen and problem.startswith(_OF_PLUGINS):
            raise ExecutorError(f"{problem.removeprefix(_OF_PLUGINS)} (executor on {host}){more}")
        raise ExecutorError(f"executor on {host}: {problem}{more}")
    return len(rows)


def _asked(spark: SparkSession, frame: DataFrame) -> list[dict[str, Any]]:
    future: Future[list[dict[str, Any]]] = Future()

    def ask() -> None:
        try:
            spark.addTag(_TAG)
            future.set_result(frame.toArrow().to_pylist())
        except BaseException as error:  # noqa: BLE001 - the waiting caller receives it
            future.set_exception(error)

    # A daemon thread, because the cluster may never respond.
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
        if (other := _OTHER_PYTHON.search(str(error))) is not None:
            raise ExecutorError(
                f"the executors run Python {other[1]}, and this is Python {other[2]}: let PYSPARK_PYTHON name a Python "
                f"{other[2]} on the executors, or run this command with Python {other[1]}"
            ) from error
        raise ExecutorError(f"Spark's executors cannot run Python: {last_line(error)}") from error


def _question(own: str, wheels: tuple[ExecutorWheel, ...], chosen: bytes) -> Question:
    """The function of the executors. It uses nothing of this module, so that it is pickled by value.

    Args:
        chosen: The pickled plugins of the run, whose class an executor may lack, too; empty: none.
    """
    mark = _OF_PLUGINS
    python = ".".join(platform.python_version_tuple()[:2])
    # An executor may lack their class.
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
                if problem is None and chosen:
                    import pickle

                    from assignor_lab.scoring.spark.executor_plugins import plugin_problem

                    # Made by the driver.
                    found = plugin_problem(pickle.loads(chosen), [rest[0] for _, rest in packed])  # noqa: S301
                    problem = None if found is None else f"{mark}{found}"
        except (PackageNotFoundError, ImportError) as error:
            problem = f"it lacks assignor-lab ({error}): {remedy}"
        answer = {"host": platform.node(), "problem": problem}
        schema = pa.schema([("host", pa.string()), ("problem", pa.string())])
        yield pa.RecordBatch.from_pylist([answer], schema=schema)

    return answers
