"""Fixed blocks of the items of a plan: they depend on the plan alone, never on a cluster.

A block of a family is computed where it is scored, from the number of the block; only scenarios travel as documents.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator

import attrs

from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.sources.plan import ScoringPlan

__all__ = ["BLOCK_ITEMS", "BlockSpan", "RunPart", "parts_of"]

#: Most items of a block, and bytes of its scenarios.
BLOCK_ITEMS = 256
BLOCK_BYTES = 4 * 2**20
#: A small run is divided into about so many blocks, which keep many cores busy, with at least so many items.
SMALL_RUN_BLOCKS = 512
LEAST_ITEMS = 4
#: A part of a run has at least so many blocks, if the run has, and a run about so many parts.
PART_BLOCKS = 64
MOST_PARTS = 32
#: Blocks of the first part if plugins can be excluded; each part may have twice as many as the one before. So a plugin
#: that hangs at each call costs at most 15 deadlines.
FIRST_BLOCKS = 1
#: Most bytes of scenarios in a part: they travel with its tasks.
PART_BYTES = 64 * 2**20


@attrs.frozen
class BlockSpan:
    """Consecutive blocks: of one family, or one block of scenarios.

    Args:
        first_block: Number of its first block.
        items: The items of a block of scenarios; empty for a family.
        first: Number of the first item.
        count: Number of items.
        seed: Seed of the first history.
        size: Items of each block of a family, but the last.
    """

    first_block: int
    blocks: int
    items: tuple[WorkItem, ...] = ()
    first: int = 0
    count: int = 0
    source: int = 0
    family: str | None = None
    seed: int = 0
    size: int = BLOCK_ITEMS

    def block(self, number: int) -> tuple[WorkItem, ...]:
        """The items of one of its blocks."""
        if self.family is None:
            return self.items
        start = (number - self.first_block) * self.size
        places = range(start, min(start + self.size, self.count))
        return tuple(
            WorkItem(self.first + place, self.source, family=self.family, seed=self.seed + place) for place in places
        )

    def cut(self, start: int, end: int) -> BlockSpan:
        """The blocks of a family from ``start`` to ``end``, exclusive."""
        skipped = (start - self.first_block) * self.size
        count = min(self.count - skipped, (end - start) * self.size)
        return attrs.evolve(
            self,
            first_block=start,
            blocks=end - start,
            first=self.first + skipped,
            seed=self.seed + skipped,
            count=count,
        )


@attrs.frozen
class RunPart:
    """Consecutive blocks that are written together: complete, or absent."""

    number: int
    spans: tuple[BlockSpan, ...]

    @property
    def first_block(self) -> int:
        return self.spans[0].first_block

    @property
    def blocks(self) -> int:
        return sum(span.blocks for span in self.spans)

    @property
    def items(self) -> int:
        return sum(len(span.items) or span.count for span in self.spans)

    def block(self, number: int) -> tuple[WorkItem, ...]:
        """The items of a block of the run."""
        at = bisect_right(self.spans, number, key=lambda span: span.first_block) - 1
        return self.spans[at].block(number)


def parts_of(plan: ScoringPlan, *, can_exclude: bool = False) -> Iterator[RunPart]:
    """The parts of a plan, in order; one part of scenarios is in memory at a time.

    Args:
        can_exclude: True if plugins run in their own processes. Then the first parts are small: a part excludes
            plugins by the parts before it.
    """
    total = sum(math.ceil(source.items / _items_of_block(plan)) for source in plan.sources)
    most = max(PART_BLOCKS, math.ceil(total / MOST_PARTS))
    size = min(FIRST_BLOCKS, most) if can_exclude else most
    held: list[BlockSpan] = []
    number = blocks = read = 0
    for span in _spans(plan):
        start = span.first_block
        while start < span.first_block + span.blocks:
            end = min(start + size - blocks, span.first_block + span.blocks)
            held.append(span if span.family is None else span.cut(start, end))
            blocks += end - start
            read += sum(len(item.document or "") for item in span.items)
            start = end
            if blocks >= size or read >= PART_BYTES:
                yield RunPart(number, tuple(held))
                number, held, blocks, read = number + 1, [], 0, 0
                size = min(2 * size, most)
    if held:
        yield RunPart(number, tuple(held))


def _items_of_block(plan: ScoringPlan) -> int:
    return min(BLOCK_ITEMS, max(LEAST_ITEMS, math.ceil(plan.items / SMALL_RUN_BLOCKS)))


def _spans(plan: ScoringPlan) -> Iterator[BlockSpan]:
    block = 0
    size = _items_of_block(plan)
    held: list[WorkItem] = []
    read = 0
    documents = (item for item in plan.work() if item.family is None) if _has_documents(plan) else iter(())
    if plan.only is not None:
        items = tuple(plan.work())
        if items:
            yield BlockSpan(0, 1, items)
        return
    for position, source in enumerate(plan.sources):
        if source.generated is None:
            for _ in range(source.items):
                item = next(documents)
                held.append(item)
                read += len(item.document or "")
                if len(held) >= size or read >= BLOCK_BYTES:
                    yield BlockSpan(block, 1, tuple(held))
                    block, held, read = block + 1, [], 0
            continue
        if held:
            yield BlockSpan(block, 1, tuple(held))
            block, held, read = block + 1, [], 0
        blocks = math.ceil(source.items / size)
        if blocks:
            made = source.generated
            yield BlockSpan(block, blocks, (), source.first, source.items, position, made.family, made.seed, size)
            block += blocks
    if held:
        yield BlockSpan(block, 1, tuple(held))


def _has_documents(plan: ScoringPlan) -> bool:
    return any(source.generated is None for source in plan.sources)
