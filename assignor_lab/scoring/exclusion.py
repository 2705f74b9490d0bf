"""Exclusion from the rest of a run: a plugin that hangs at every call must not make it last for ever.

The rule goes by the numbers of the work items alone, so that it says the same however the work is cut, and after a
resumption: items are counted in blocks, small ones at the beginning of each source, and in a block nobody is asked who
had lost too much in the items before the *preceding* block. So two blocks can be worked on at a time without a guess;
who works on more has to guess, and to work on some items once more where the guess was wrong
(:mod:`assignor_lab.scoring.settling`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.losses import LIMIT_POINTS, LOSSES, MAX_POINTS, Losses
from assignor_lab.scoring.sources import Source
from assignor_lab.scoring.speculation import Speculation

__all__ = ["RunExclusions"]

#: Sizes of the first blocks of a source, in items; the last one is that of all further blocks.
BLOCKS = (8, 8, 16, 32, 64, 128, 256)


class RunExclusions:
    """Who is not asked in which items.

    Args:
        sources: Sources of the run.
        names: Assignors that run in processes of their own.
        metrics: Columns of metrics that do.
        families: Families that do: name to what an error of the family begins with. Where nobody does, everybody is
            asked always, and nothing is awaited.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        names: Iterable[str],
        metrics: Iterable[str] = (),
        families: Mapping[str, str] | None = None,
    ) -> None:
        self._losses = Losses(tuple(names), tuple(metrics), dict(families or {}))
        self._names = self._losses.names
        self._starts = [start for source in sources for start in _block_starts(source)]
        self._points = dict.fromkeys(self._names, 0)
        #: Who is excluded to the item in which it had lost too much.
        self._excluded: dict[str, int] = {}
        #: Name to the items in which it lost anything; not many, for then it is excluded.
        self._lost: dict[str, set[int]] = {name: set() for name in self._names}
        self._complete = 0
        self._is_calm = False

    @property
    def can_exclude(self) -> bool:
        """Whether anybody could ever be excluded."""
        return bool(self._names)

    @property
    def is_calm(self) -> bool:
        """Whether rows have been seen, and nobody ran into a limit in the latest of them who is still asked."""
        return self._is_calm or not self._names

    def see(self, rows: pa.Table, next_item: int) -> None:
        """Takes notice of rows.

        Args:
            rows: All rows of the items that follow those of the last call.
            next_item: All items of smaller numbers have been seen now.
        """
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
        """Takes notice that there is nothing before the item ``number`` that was not seen."""
        self._complete = max(self._complete, number)

    def may_take(self, number: int) -> bool:
        """Whether enough is known to work on the item ``number`` without a guess."""
        return not self._names or self._complete >= self._settled_before(number)

    def marked(self, item: WorkItem) -> WorkItem:
        """The item with those who are not asked in it, as far as that is known: all of them once it may be taken."""
        if not self._names:
            return item
        return attrs.evolve(
            item, excluded=self.excluded_from(item.number), settled_before=self._settled_before(item.number)
        )

    def excluded_from(self, number: int) -> tuple[str, ...]:
        """Who is not asked in the item ``number``, as far as that is known."""
        if not self._excluded:
            return ()
        before = self._settled_before(number)
        return tuple(name for name in self._names if self._excluded.get(name, before) < before)

    def speculation(self, heaps: int) -> Speculation | None:
        """What is known now, for who works on items that may not be taken yet; ``None``: nobody has to guess.

        Args:
            heaps: Heaps that are worked on side by side.
        """
        return Speculation(self._losses, self._complete, dict(self._points), heaps) if self._names else None

    def spared(self, item: WorkItem) -> WorkItem:
        """The item to be worked on once more, for a picture: who lost anything in it is not asked again."""
        marked = self.marked(item)
        lost = tuple(name for name in self._names if item.number in self._lost[name] and name not in marked.excluded)
        return attrs.evolve(marked, excluded=(*marked.excluded, *lost)) if lost else marked

    def next_block(self, number: int) -> int | None:
        """Number of the first item of the block that follows that of the item ``number``; ``None``: it is the last."""
        block = bisect_right(self._starts, number)
        return self._starts[block] if block < len(self._starts) else None

    def _settled_before(self, number: int) -> int:
        """What decides about the item ``number``: the items before this one."""
        block = bisect_right(self._starts, number) - 1
        return self._starts[block - 1] if block > 0 else 0


def _lossy(rows: pa.Table) -> list[dict[str, object]]:
    """The rows that may tell of a loss."""
    wanted = ("item", "assignor", "error_type", "error_message", "metric_errors")
    columns = [name for name in wanted if name in rows.schema.names]
    may_be = pc.is_in(rows["error_type"], pa.array(LOSSES))
    if "metric_errors" in columns:
        may_be = pc.or_(may_be, pc.is_valid(rows["metric_errors"]))
    found: list[dict[str, object]] = rows.filter(may_be).select(columns).to_pylist()
    return found


def _block_starts(source: Source) -> Iterable[int]:
    start, end = source.first, source.first + source.items
    sizes = iter(BLOCKS)
    while start < end:
        yield start
        start += next(sizes, BLOCKS[-1])
