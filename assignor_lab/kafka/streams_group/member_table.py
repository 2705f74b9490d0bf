"""The order in which a broker's coordinator goes through the members of a group.

It keeps them in a ``TimelineHashMap``, from which an assignor's own map is filled: among members that share a slot of
that one, who comes first decides ties (Kafka: ``org.apache.kafka.timeline.BaseHashTable``, ``SnapshottableHashTable``).
The table of a group starts with two slots, and never shrinks. It doubles before anybody is written down while one more
member would be more than four for three slots; members are written down when they join, and with each change of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator

from assignment_api.java.hashing import string_hash

__all__ = ["MemberTable"]

_SMALLEST = 2
#: Multiplied with a hash code, its highest bits are the slot.
_FIBONACCI = -7_046_029_254_386_353_131
_MASK_64 = (1 << 64) - 1


class MemberTable:
    """Ids of members, as the broker's table has them. Each operation costs its slot's length, growth the table's."""

    def __init__(self) -> None:
        self._slots: list[list[str]] = [[] for _ in range(_SMALLEST)]
        self._size = 0

    def __iter__(self) -> Iterator[str]:
        """Slot by slot; of one slot, who came last comes first."""
        for slot in self._slots:
            yield from reversed(slot)

    def __contains__(self, member: str) -> bool:
        return member in self._slots[_slot(member, len(self._slots))]

    def add(self, member: str) -> None:
        """One record of a member: whoever is there already stays where it is, but the table can grow all the same."""
        if (self._size + 1) * 3 > len(self._slots) * 4:
            self._grow()
        slot = self._slots[_slot(member, len(self._slots))]
        if member not in slot:
            slot.append(member)
            self._size += 1

    def write_down(self, member: str) -> None:
        """A member is written down with each change of where it stands; who joins is written down before that, too."""
        if member not in self:
            self.add(member)
        self.add(member)

    def remove(self, member: str) -> None:
        """A member is gone; whoever was not there makes no difference."""
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
