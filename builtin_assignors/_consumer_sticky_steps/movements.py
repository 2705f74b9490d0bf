"""Moves of partitions between members, so that a move back takes a partition that came the other way.

Kafka: ``AbstractStickyAssignor.PartitionMovements``. The first partition of a hash set decides.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from assignment_api.java import JavaHashTable

__all__ = ["PartitionMovements"]

Pair = tuple[int, int]


@attrs.define(eq=False)
class PartitionMovements:
    """The moves so far.

    Args:
        topic_of: Topic of each partition.
        hash_of: Hash code of each partition.
        pairs: Moved partition to its first source and its present holder.
        moved: Topic to pair to the partitions that moved so.
    """

    topic_of: list[int]
    hash_of: Callable[[int], int]
    pairs: dict[int, Pair] = attrs.field(factory=dict)
    moved: dict[tuple[int, int, int], JavaHashTable[int, None]] = attrs.field(factory=dict)

    def actual(self, partition: int, old: int, new: int) -> int:
        """The partition that moves in place of ``partition``."""
        if partition in self.pairs:
            old = self.pairs[partition][0]
        reverse = self.moved.get((self.topic_of[partition], new, old))
        return partition if reverse is None else next(iter(reverse))

    def move(self, partition: int, old: int, new: int) -> None:
        known = self.pairs.pop(partition, None)
        if known is not None:
            key = (self.topic_of[partition], *known)
            self.moved[key].remove(partition)
            if not len(self.moved[key]):
                del self.moved[key]
            old = known[0]
            if old == new:
                return
        self.pairs[partition] = (old, new)
        key = (self.topic_of[partition], old, new)
        if key not in self.moved:
            self.moved[key] = JavaHashTable(self.hash_of)
        self.moved[key].put(partition, None)
