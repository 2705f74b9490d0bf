"""The engine without Spark: one item after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import attrs
import pyarrow as pa

from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.garbage import spare_what_is_loaded
from assignor_lab.scoring.engine.batches import answer_batches
from assignor_lab.scoring.engine.engine import Pictures, RunWork, Wave
from assignor_lab.scoring.engine.exclusion import RunExclusions
from assignor_lab.scoring.output.tables import KEY_NAMES, rows_schema

__all__ = ["InProcess", "waves_of"]

V = TypeVar("V")

#: Items of a wave.
WAVE_ITEMS = 32


def waves_of(scorer: Scorer, items: Iterator[WorkItem], exclusions: RunExclusions) -> Iterator[Wave]:
    """The rows of ``items`` in order, a wave at a time; each wave knows the exclusions by those before it."""
    schema = rows_schema(scorer.spec.metrics, scorer.kind.columns, raw=scorer.spec.raw)
    held = next(items, None)
    while held is not None:
        wave: list[WorkItem] = []
        # Earlier waves were seen; the exclusions determine the end of this one.
        exclusions.all_seen_before(held.number)
        while held is not None and len(wave) < WAVE_ITEMS and exclusions.may_take(held.number):
            wave.append(exclusions.marked(held))
            held = next(items, None)
        batches = answer_batches(scorer, wave)
        rows = pa.Table.from_batches(batches, schema).sort_by([(key, "ascending") for key in KEY_NAMES])
        exclusions.see(rows, wave[-1].number + 1)
        yield Wave(len(wave), rows)


@attrs.define(eq=False)
class InProcess:
    """Scores in this process; for small runs, and without Spark."""

    terms: Mapping[str, str] = attrs.field(factory=lambda: {"plugin wheels": ""})
    _scorer: Scorer | None = None

    @property
    def cores(self) -> int:
        return 1

    @property
    def versions(self) -> Mapping[str, str]:
        return {}

    def waves(self, work: RunWork) -> Iterator[Wave]:
        scorer = self._for(work.spec)
        yield from waves_of(scorer, islice(work.plan.work(), work.done, None), work.exclusions)

    def mapped(self, call: Callable[[V], Any], values: Sequence[V], seen: Path) -> list[Any]:  # noqa: ARG002
        return [call(value) for value in values]

    def pictures(
        self, spec: JobSpec, items: Iterable[WorkItem], wanted: Mapping[tuple[int, int], str | None]
    ) -> Pictures:
        scorer = self._for(spec)
        return {(item.number, number): picture for item in items for number, picture in scorer.pictures(item, wanted)}

    def close(self) -> None:
        if self._scorer is not None:
            self._scorer.close()
            self._scorer = None

    def _for(self, spec: JobSpec) -> Scorer:
        if self._scorer is None or self._scorer.spec != spec:
            self.close()
            self._scorer = Scorer(spec)
            spare_what_is_loaded()
        return self._scorer
