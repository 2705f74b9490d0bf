"""The least and the most loaded subscribers of a topic (Kafka: ``MemberAssignmentBalancer``).

Two ranges of the sorted subscribers grow towards each other, each at a level of load. Sizes change meanwhile, but the
order stays: the answer depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["LoadLevels"]


class LoadLevels:
    """Subscribers by load.

    Args:
        subscribers: Members of the topic.
        sizes: Number of partitions by member; the caller keeps it up to date.
    """

    __slots__ = (
        "_least_end",
        "_least_level",
        "_least_next",
        "_members",
        "_most_end",
        "_most_level",
        "_most_next",
        "_most_start",
        "_sizes",
        "difference",
    )

    def __init__(self, subscribers: Sequence[int], sizes: Sequence[int]) -> None:
        members = sorted(subscribers, key=lambda member: (sizes[member], member))
        smallest, largest = sizes[members[0]], sizes[members[-1]]
        #: Between the largest and the smallest load at the beginning.
        self.difference = largest - smallest
        self._members = members
        self._sizes = sizes
        self._least_end = self._least_next = 0
        self._least_level = smallest - 1
        self._most_start = self._most_end = len(members)
        self._most_level = largest + 1
        self._most_next = len(members) - 1

    def least_loaded(self) -> int:
        """The next member of the lowest level; at the end of the level, the first one of the next level."""
        if self._least_next >= self._least_end:
            self._least_level += 1
            members, sizes = self._members, self._sizes
            end = self._least_end
            while end < len(members) and sizes[members[end]] == self._least_level:
                end += 1
            self._least_end = end
            self._least_next = 0
        member = self._members[self._least_next]
        self._least_next += 1
        return member

    def most_loaded(self) -> int | None:
        """The next member of the highest level, from the right; ``None`` if no member is left."""
        if self._most_next < self._most_start:
            members, sizes = self._members, self._sizes
            start = self._most_start
            if self._most_end <= start and start > 0:
                self._most_level = sizes[members[start - 1]]
            else:
                self._most_level -= 1
            while start > 0 and sizes[members[start - 1]] == self._most_level:
                start -= 1
            self._most_start = start
            self._most_next = self._most_end - 1
        if self._most_next < 0:
            return None
        member = self._members[self._most_next]
        self._most_next -= 1
        return member

    def leave_out(self) -> None:
        """The member of the last :meth:`most_loaded` gives nothing more: it changes places with the range's last."""
        members, place, last = self._members, self._most_next + 1, self._most_end - 1
        members[place], members[last] = members[last], members[place]
        self._most_end = last

    def is_balanced(self) -> bool:
        """True if the two levels differ by at most one."""
        return self._most_level - self._least_level <= 1
