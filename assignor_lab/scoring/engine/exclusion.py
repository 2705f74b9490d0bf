"""Exclusion from the rest of a run, so that a plugin that hangs at every call does not delay it without bound.

The rule depends only on the numbers of the work items, so it is independent of how work is divided, and the same after
a resumption. Items are counted in blocks, small ones at the beginning of each source. A block excludes plugins with too
many losses before the *preceding* block. So two blocks can run at a time without a guess. With more parallel blocks the
engine guesses, and repeats some items after a wrong guess (:mod:`assignor_lab.scoring.engine.reconciliation`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.engine.speculation import LIMIT_POINTS, LOSSES, MAX_POINTS, PenaltyRules, Speculation
from assignor_lab.scoring.sources.plan import ScoringSource

__all__ = ["RunExclusions"]

BLOCKS = (8, 8, 16, 32, 64, 128, 256)


class RunExclusions:
    """Excluded plugins by item.

    Args:
        names: Assignors that run in their own processes.
        metrics: Likewise, columns of metrics.
    """

    def __init__(
        self,
        sources: Sequence[ScoringSource],
        names: Iterable[str],
        metrics: Iterable[str] = (),
        families: Mapping[str, str] | None = None,
    ) -> None:
        self._losses = PenaltyRules(tuple(names), tuple(metrics), dict(families or {}))
        self._names = self._losses.names
        self._starts = [start for source in sources for start in _block_starts(source)]
        self._points = dict.fromkeys(self._names, 0)
        #: Excluded plugin to the item with its decisive loss.
        self._excluded: dict[str, int] = {}
        #: Name to the items with its losses; few, because many lead to exclusion.
        self._lost: dict[str, set[int]] = {name: set() for name in self._names}
        self._complete = 0
        self._is_calm = False

    @classmethod
    def of_block(cls, rules: PenaltyRules, first: int, items: int) -> RunExclusions:
        """Exclusions by the same rules for a block alone, whose rows then depend on no other block."""
        block = ScoringSource("", "", first, items)
        return cls([block], rules.assignors, rules.metrics, rules.families)

    @property
    def rules(self) -> PenaltyRules:
        return self._losses

    @property
    def can_exclude(self) -> bool:
        return bool(self._names)

    @property
    def is_calm(self) -> bool:
        """True if rows were seen, and no remaining plugin ran into a limit in the latest of them."""
        return self._is_calm or not self._names

    def see(self, rows: pa.Table, next_item: int) -> None:
        self.all_seen_before(next_item)
        if not self._names:
            return
        weights = self._losses.weights(_lossy(rows))
        for (item, name), weight in sorted(weights.items()):
            self._lost[name].add(item)
            self._points[name] += weight
            if self._points[name] >= MAX_POINTS:
                self._excluded.setdefault(name, item)
        limits = {name for (_, name), weight in weights.items() if weight >= LIMIT_POINTS}
        self._is_calm = limits <= self._excluded.keys()

    def all_seen_before(self, number: int) -> None:
        """Records that all items before ``number`` were seen."""
        self._complete = max(self._complete, number)

    def may_take(self, number: int) -> bool:
        """True if the item ``number`` needs no guess."""
        return not self._names or self._complete >= self._settled_before(number)

    def marked(self, item: WorkItem) -> WorkItem:
        """The item with its known exclusions, which are complete once it may be taken."""
        if not self._names:
            return item
        return attrs.evolve(
            item, excluded=self.excluded_from(item.number), settled_before=self._settled_before(item.number)
        )

    def excluded_from(self, number: int) -> tuple[str, ...]:
        """Known exclusions for the item ``number``."""
        if not self._excluded:
            return ()
        before = self._settled_before(number)
        return tuple(name for name in self._names if self._excluded.get(name, before) < before)

    def speculation(self, heaps: int) -> Speculation | None:
        """Current knowledge, for scorers of items that may not be taken yet; ``None`` if no guess is needed."""
        return Speculation(self._losses, self._complete, dict(self._points), heaps) if self._names else None

    def spared(self, item: WorkItem) -> WorkItem:
        """The item for a picture's repetition, without plugins that had a loss in it."""
        marked = self.marked(item)
        lost = tuple(name for name in self._names if item.number in self._lost[name] and name not in marked.excluded)
        return attrs.evolve(marked, excluded=(*marked.excluded, *lost)) if lost else marked

    def next_block(self, number: int) -> int | None:
        """Number of the first item of the next block after that of ``number``; ``None`` for the last one."""
        block = bisect_right(self._starts, number)
        return self._starts[block] if block < len(self._starts) else None

    def _settled_before(self, number: int) -> int:
        """Items before this one decide about the item ``number``."""
        block = bisect_right(self._starts, number) - 1
        return self._starts[block - 1] if block > 0 else 0


def _lossy(rows: pa.Table) -> list[dict[str, object]]:
    wanted = ("item", "assignor", "error_type", "error_message", "metric_errors")
    columns = [name for name in wanted if name in rows.schema.names]
    may_be = pc.is_in(rows["error_type"], pa.array(LOSSES))
    if "metric_errors" in columns:
        may_be = pc.or_(may_be, pc.is_valid(rows["metric_errors"]))
    found: list[dict[str, object]] = rows.filter(may_be).select(columns).to_pylist()
    return found


def _block_starts(source: ScoringSource) -> Iterable[int]:
    start, end = source.first, source.first + source.items
    sizes = iter(BLOCKS)
    while start < end:
        yield start
        start += next(sizes, BLOCKS[-1])
