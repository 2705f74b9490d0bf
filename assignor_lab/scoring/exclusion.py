"""Exclusion from the rest of a run: a plugin that hangs at every call must not make it last for ever.

The rule goes by the numbers of the work items alone, so that it says the same however the work is cut, and after a
resumption: items are counted in blocks, small ones at the beginning of each source, and in a block nobody is asked who
had lost too much in the items before the *preceding* block. So two blocks can be worked on at a time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.isolation.exclusion import family_key, metric_key
from assignor_lab.scoring.sources import Source

__all__ = ["RunExclusions"]

#: Sizes of the first blocks of a source, in items; the last one is that of all further blocks.
BLOCKS = (8, 8, 16, 32, 64, 128, 256)
#: What an item counts in which a plugin ran into a limit, or its process ended otherwise; and what is too much.
LIMIT_POINTS = 8
LOSS_POINTS = 1
MAX_POINTS = 64

_LIMITS = ("DeadlineExceededError", "MemoryLimitError", "OutputLimitError", "ProcessLimitError")
_LOSSES = (*_LIMITS, "AnswerFormatError", "ProcessDiedError")


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
        self._metrics = tuple(metrics)
        self._families = dict(families or {})
        keys = (*map(metric_key, self._metrics), *map(family_key, self._families))
        self._names = (*names, *keys)
        self._starts = [start for source in sources for start in _block_starts(source)]
        self._points = dict.fromkeys(self._names, 0)
        #: Assignor to the item in which it had lost too much.
        self._excluded: dict[str, int] = {}
        #: Assignor to the items in which it lost anything; not many, for then it is excluded.
        self._lost: dict[str, set[int]] = {name: set() for name in self._names}
        self._complete = 0

    def see(self, rows: pa.Table, next_item: int) -> None:
        """Takes notice of rows.

        Args:
            rows: All rows of the items that follow those of the last call.
            next_item: All items of smaller numbers have been seen now.
        """
        self.all_seen_before(next_item)
        if not self._names:
            return
        weights: dict[tuple[int, str], int] = {}
        for item, name, error_type in (*self._losses(rows), *self._losses_of_metrics(rows)):
            weight = LIMIT_POINTS if error_type in _LIMITS else LOSS_POINTS
            weights[item, name] = max(weights.get((item, name), 0), weight)
        for (item, assignor), weight in sorted(weights.items()):
            if assignor not in self._points:
                continue
            self._lost[assignor].add(item)
            self._points[assignor] += weight
            if self._points[assignor] >= MAX_POINTS:
                self._excluded.setdefault(assignor, item)

    def _losses(self, rows: pa.Table) -> Iterator[tuple[int, str, str]]:
        """Item, who lost its process, and how: the assignor, or the family that made no state for it."""
        columns = [name for name in ("item", "assignor", "error_type", "error_message") if name in rows.schema.names]
        lost = rows.filter(pc.is_in(rows["error_type"], pa.array(_LOSSES))).select(columns)
        for row in lost.to_pylist():
            message = row.get("error_message") or ""
            families = (
                family_key(name)
                for name, start in self._families.items()
                if message.startswith((f"{start} ", f"{start}:"))
            )
            yield row["item"], next(families, row["assignor"]), row["error_type"]

    def _losses_of_metrics(self, rows: pa.Table) -> Iterator[tuple[int, str, str]]:
        if not self._metrics:
            return
        failed = rows.filter(pc.is_valid(rows["metric_errors"])).select(["item", "metric_errors"])
        for row in failed.to_pylist():
            for text in row["metric_errors"]:
                for column in self._metrics:
                    error_type = text.removeprefix(f"{column}: ").partition(":")[0]
                    if text.startswith(f"{column}: ") and error_type in _LOSSES:
                        yield row["item"], metric_key(column), error_type

    def all_seen_before(self, number: int) -> None:
        """Takes notice that there is nothing before the item ``number`` that was not seen."""
        self._complete = max(self._complete, number)

    def may_take(self, number: int) -> bool:
        """Whether enough is known to work on the item ``number``."""
        return not self._names or self._complete >= self._settled_before(number)

    def marked(self, item: WorkItem) -> WorkItem:
        """The item with those who are not asked in it; the rows of enough items before it must have been seen."""
        if not self._excluded:
            return item
        before = self._settled_before(item.number)
        excluded = tuple(name for name in self._names if self._excluded.get(name, before) < before)
        return attrs.evolve(item, excluded=excluded) if excluded else item

    def spared(self, item: WorkItem) -> WorkItem:
        """The item to be worked on once more, for a picture: who lost anything in it is not asked again."""
        marked = self.marked(item)
        lost = tuple(name for name in self._names if item.number in self._lost[name] and name not in marked.excluded)
        return attrs.evolve(marked, excluded=(*marked.excluded, *lost)) if lost else marked

    def _settled_before(self, number: int) -> int:
        """What decides about the item ``number``: the items before this one."""
        block = bisect_right(self._starts, number) - 1
        return self._starts[block - 1] if block > 0 else 0


def _block_starts(source: Source) -> Iterable[int]:
    start, end = source.first, source.first + source.items
    sizes = iter(BLOCKS)
    while start < end:
        yield start
        start += next(sizes, BLOCKS[-1])
