"""The engine on Spark: classic or Connect, on this machine or a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import attrs
from pyspark.sql import SparkSession

from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.engine.engine import Pictures, RunWork, Wave
from assignor_lab.scoring.output.summary_file import picture_of
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel, terms_of
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

#: Assumed number of simultaneous tasks for a session without this number.
UNKNOWN_PARALLELISM = 4


@attrs.frozen(eq=False)
class OnSpark:
    """Scores on Spark."""

    spark: SparkSession
    wheels: tuple[ExecutorWheel, ...] = ()
    known_cores: int | None = None
    on_note: Callable[[str], None] = lambda _note: None

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

    def waves(self, work: RunWork) -> Iterator[Wave]:
        sentences: list[str] = []

        def on_unseen() -> None:
            if not sentences:
                sentences.append(_UNSEEN)
                self.on_note(_UNSEEN)

        return waves(self.spark, work, lambda: self.cores or UNKNOWN_PARALLELISM, self.wheels, on_unseen)

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


def _java_version(spark: SparkSession) -> str | None:
    try:
        return str(spark.sparkContext._jvm.System.getProperty("java.version"))  # type: ignore[union-attr]
    except Exception:  # noqa: BLE001 - a Connect session has no Java of its own to ask
        return None
