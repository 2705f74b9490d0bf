"""The engine on Spark: classic or Connect, on this machine or a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import attrs
from pyspark.sql import SparkSession

from assignor_lab.groups.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.engine import Pictures, Wave, Work
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel
from assignor_lab.scoring.spark.job import items_frame, pictures_frame
from assignor_lab.scoring.spark.mapped import mapped_on_spark
from assignor_lab.scoring.spark.session import parallelism_of
from assignor_lab.scoring.spark.waves import waves

__all__ = ["OnSpark"]

_UNSEEN = (
    "executors do not see the output folder, so all rows are written by the driver: with --out on a file system that "
    "they share, each writes its own"
)

V = TypeVar("V")

#: Tasks at a time that are assumed where the session does not tell.
UNKNOWN_PARALLELISM = 4


@attrs.frozen(eq=False)
class OnSpark:
    """Scores on Spark.

    Args:
        spark: A session.
        wheels: Plugins that the executors have as wheels.
        known_cores: Tasks that run at a time, where the session itself does not tell; ``None``: not known.
        on_note: Told what the user should know.
    """

    spark: SparkSession
    wheels: tuple[ExecutorWheel, ...] = ()
    known_cores: int | None = None
    on_note: Callable[[str], None] = lambda _note: None

    @property
    def cores(self) -> int | None:
        """Tasks that run at a time; executors may come and go."""
        return parallelism_of(self.spark) or self.known_cores

    @property
    def versions(self) -> Mapping[str, str]:
        """Of PySpark, and of Java where the session tells."""
        java = _java_version(self.spark)
        return {"pyspark": metadata.version("pyspark")} | ({} if java is None else {"java": java})

    @property
    def terms(self) -> Mapping[str, str]:
        """The plugins that travel."""
        wheels = (f"{wheel.name} {wheel.version} sha256:{wheel.sha256}" for wheel in self.wheels)
        return {"plugin wheels": ", ".join(wheels)}

    def waves(self, work: Work) -> Iterator[Wave]:
        """The rows of all answers."""
        said: list[str] = []

        def on_unseen() -> None:
            if not said:
                said.append(_UNSEEN)
                self.on_note(_UNSEEN)

        return waves(self.spark, work, lambda: self.cores or UNKNOWN_PARALLELISM, self.wheels, on_unseen)

    def mapped(self, call: Callable[[V], Any], values: Sequence[V], seen: Path) -> list[Any]:
        """What ``call`` makes of each of ``values``; by the executors that see the folder, and else here."""
        found = mapped_on_spark(self.spark, call, values, seen) if values else {}
        return [found[number] if number in found else call(value) for number, value in enumerate(values)]

    def pictures(
        self, spec: JobSpec, items: Iterable[WorkItem], wanted: Mapping[tuple[int, int], str | None]
    ) -> Pictures:
        """The full pictures of some states."""
        frame = items_frame(self.spark, [[item] for item in items])
        table = pictures_frame(frame, spec, wanted, self.wheels).toArrow()
        return {
            (row["item"], row["round"]): json.loads(row["detail"])
            for row in table.select(["item", "round", "detail"]).to_pylist()
        }


def _java_version(spark: SparkSession) -> str | None:
    try:
        return str(spark.sparkContext._jvm.System.getProperty("java.version"))  # type: ignore[union-attr]
    except Exception:  # noqa: BLE001 - a Connect session has no Java of its own to ask
        return None
