"""The engine without Spark: one block after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs

from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.garbage import spare_what_is_loaded
from assignor_lab.scoring.engine.batches import block_batches, scored_schema
from assignor_lab.scoring.engine.engine import BlockWork, Pictures
from assignor_lab.scoring.engine.rows_folder import write_block

__all__ = ["InProcess"]

V = TypeVar("V")


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

    def write(self, work: BlockWork, on_tick: Callable[[], None]) -> None:
        folder = work.target.folder
        assert folder is not None, "this process writes folders of this machine only"
        scorer = self._for(work.spec)
        for number in sorted(work.blocks):
            batches = block_batches(scorer, number, work.part.block(number), work.rules, work.points)
            write_block(folder, number, scored_schema(work.spec), batches)
            on_tick()

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
