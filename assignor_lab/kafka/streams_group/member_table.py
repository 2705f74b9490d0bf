"""Order in which a broker's coordinator iterates over the members of a group.

It keeps them in a ``TimelineHashMap``, from which an assignor's own map is filled. Among members that share a slot of
that map, the order here decides ties (Kafka: ``org.apache.kafka.timeline.BaseHashTable``, ``SnapshottableHashTable``).
The table of a group starts with two slots, and never shrinks. It doubles before a record of a member, if one more
member would exceed four for three slots. Members are recorded when they join, and with each change of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator

from assignment_api.java.hashing import string_hash

__all__ = ["MemberTable"]

_SMALLEST = 2
#: The highest bits of its product with a hash code are the slot.
_FIBONACCI = -7_046_029_254_386_353_131
_MASK_64 = (1 << 64) - 1


class MemberTable:
    """Ids of members in the order of the broker's table."""

    def __init__(self) -> None:
        self._slots: list[list[str]] = [[] for _ in range(_SMALLEST)]
        self._size = 0

    def __iter__(self) -> Iterator[str]:
        """Slot by slot; in one slot the latest member comes first."""
        for slot in self._slots:
            yield from reversed(slot)

    def __contains__(self, member: str) -> bool:
        return member in self._slots[_slot(member, len(self._slots))]

    def add(self, member: str) -> None:
        if (self._size + 1) * 3 > len(self._slots) * 4:
            self._grow()
        slot = self._slots[_slot(member, len(self._slots))]
        if member not in slot:
            slot.append(member)
            self._size += 1

    def write_down(self, member: str) -> None:
        """Write the records of a change of a member; a joining member needs an additional one."""
        if member not in self:
            self.add(member)
        self.add(member)

    def remove(self, member: str) -> None:
        slot = self._slots[_slot(member, len(self._slots))]
        if member in slot:
            slot.remove(member)
            self._size -= 1

    def _grow(self) -> None:
        slots: list[list[str]] = [[] for _ in range(2 * len(self._slots))]
        for before in self._slots:
            for member in before:
                slots[_slot(member, len(slots))].append(member)
        self._slots = slots


def _slot(member: str, slots: int) -> int:
    return (string_hash(member) * _FIBONACCI & _MASK_64) >> (65 - slots.bit_length())
