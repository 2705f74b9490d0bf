"""A quick test of balance for the general case: one pair of members that a move would even out.

Kafka looks at every partition of every member before each move. While each partition has one owner, a pair is enough:
a member that may take more, and an owner of a partition that it subscribes with at least two partitions more. The pair
found last is tried first; a search takes O(members^2) bit operations at worst.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

__all__ = ["UnevenPairs"]


@attrs.define(eq=False)
class UnevenPairs:
    """Topics of members as bits.

    Args:
        listed: Subscribed topics of each member.
        owned: Topics of which it holds a partition.
        counts: Number of its partitions of each topic.
        last: The smaller and the larger member of the pair found last.
    """

    listed: list[int]
    owned: list[int]
    counts: list[Counter[int]]
    last: tuple[int, int] | None = None

    @classmethod
    def of(cls, held: Sequence[Sequence[int]], topic_of: Sequence[int], listed: Iterable[Iterable[int]]) -> UnevenPairs:
        counts = [Counter(topic_of[partition] for partition in own) for own in held]
        return cls([sum(1 << topic for topic in set(topics)) for topics in listed], list(map(_bits, counts)), counts)

    def move(self, topic: int, old: int, new: int) -> None:
        self.counts[old][topic] -= 1
        if not self.counts[old][topic]:
            del self.counts[old][topic]
            self.owned[old] ^= 1 << topic
        self.counts[new][topic] += 1
        self.owned[new] |= 1 << topic

    def are_balanced(self, held: Sequence[Sequence[int]], most: Sequence[int], ranked: Sequence[int]) -> bool:
        """True if there is no pair.

        Args:
            most: Partitions with which a member counts as full.
            ranked: Members in the game by size.
        """
        if self.last is not None and self._is_uneven(*self.last, held, most):
            return False
        least = len(held[ranked[0]])
        for large in reversed(ranked):
            size = len(held[large])
            if size <= least + 1:
                break
            for small in ranked:
                if len(held[small]) + 1 >= size:
                    break
                if self._is_uneven(small, large, held, most):
                    self.last = small, large
                    return False
        return True

    def _is_uneven(self, small: int, large: int, held: Sequence[Sequence[int]], most: Sequence[int]) -> bool:
        size = len(held[small])
        return size + 1 < len(held[large]) and size != most[small] and bool(self.listed[small] & self.owned[large])


def _bits(topics: Iterable[int]) -> int:
    return sum(1 << topic for topic in topics)
