"""Targets in Kafka's maps and sets: ``HashMap<Uuid, Set<Integer>>`` of one member, changed step by step.

Both keep the order of insertion; Java's order is computed at the end. A table in which a slot may get more keys than a
chain holds is replayed in an exact one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import attrs

from assignment_api.java import (
    DEFAULT_CAPACITY,
    DEFAULT_JDK,
    MAX_CHAIN,
    JavaHashTable,
    fits_plain,
    grown_capacity,
    spread,
    stays_plain,
    table_size_for,
)

__all__ = ["IntegerSet", "MemberTarget", "Previous", "TopicKeys", "new_table_capacity", "sized_capacity"]

#: Topics with their partitions, both in Kafka's order.
Previous = Sequence[tuple[int, Sequence[int]]]

_PLAIN_HASHES = 1 << 16
#: Most numbers of a set whose copy has the usual slots.
_MOST_IN_COPY = 11


def new_table_capacity(size: int) -> int:
    """Slots of a table that the coordinator creates for ``size`` entries (Kafka: ``AssignorHelpers.newHashMap``)."""
    return sized_capacity(size + 1)


def sized_capacity(size: int) -> int:
    """Slots of a table created for ``size / 0.75 + 1`` entries."""
    return table_size_for(size * 4 // 3 + 1)


@attrs.frozen
class TopicKeys:
    """Topic ids by number: hash code, and order of two equal ones."""

    hashes: Sequence[int]
    sort_keys: Sequence[tuple[int, int]]


class IntegerSet:
    """A ``HashSet<Integer>``.

    Args:
        slots: A power of two.
    """

    __slots__ = ("_changes", "_first_slots", "_numbers", "_slots")

    def __init__(self, slots: int = DEFAULT_CAPACITY, numbers: Sequence[int] = ()) -> None:
        self._first_slots = slots
        self._numbers = dict.fromkeys(numbers)
        #: From the first removal on: numbers added, in order; None before a removed one.
        self._changes: list[int | None] | None = None
        #: Slots from the first removal on.
        self._slots = 0

    @classmethod
    def copy_of(cls, numbers: Sequence[int]) -> IntegerSet:
        """``new HashSet(numbers)``."""
        return cls(DEFAULT_JDK.set_copy_capacity(len(numbers)), numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, number: object) -> bool:
        return number in self._numbers

    def add_all(self, numbers: Sequence[int]) -> None:
        """Adds numbers one after the other; those that are present have no effect."""
        if self._changes is None:
            self._numbers.update(dict.fromkeys(numbers))
            return
        for number in numbers:
            if number not in self._numbers:
                self._numbers[number] = None
                self._changes.append(number)
                self._slots = grown_capacity(len(self._numbers), self._slots)

    def remove(self, number: int) -> None:
        """Removes a number by key; no effect if it is absent."""
        if number in self._numbers:
            if self._changes is None:
                self._changes = [*self._numbers]
                self._slots = grown_capacity(len(self._numbers), self._first_slots)
            del self._numbers[number]
            self._changes += (None, number)

    def in_order(self) -> list[int]:
        """The numbers in Java's iteration order."""
        numbers = [*self._numbers]
        if len(numbers) <= 1:
            return numbers
        if not self._is_plain(numbers):
            return self._replayed()
        mask = (self._slots or grown_capacity(len(numbers), self._first_slots)) - 1
        if min(numbers) >= 0 and (highest := max(numbers)) < _PLAIN_HASHES:
            if highest <= mask:
                numbers.sort()
                return numbers
            return sorted(numbers, key=mask.__and__)
        return sorted(numbers, key=lambda number: spread(number) & mask)

    def _is_plain(self, numbers: list[int]) -> bool:
        if self._changes is None:
            return stays_plain(numbers, self._first_slots)
        # Numbers that were never in the set together count, too.
        added = {number for number in self._changes if number is not None}
        return len(added) <= MAX_CHAIN or fits_plain([*added], self._first_slots)

    def _replayed(self) -> list[int]:
        table: JavaHashTable[int, None] = JavaHashTable(int, initial_capacity=self._first_slots)
        removes = False
        for number in self._numbers if self._changes is None else self._changes:
            if number is None:
                removes = True
            elif removes:
                table.remove(number)
                removes = False
            else:
                table.put(number, None)
        return list(table)


class MemberTarget:
    """A member's changeable target: at first a copy of the previous one (``AssignorHelpers.deepCopyAssignment``)."""

    __slots__ = ("_changes", "_copied", "_keys", "_kept", "_sets", "_slots", "_stages")

    def __init__(self, previous: Previous, keys: TopicKeys) -> None:
        self._keys = keys
        #: Of a topic that did not change yet: its partitions, to be put into a copy of a set.
        self._sets: dict[int, IntegerSet | Sequence[int]] = dict(previous)
        self._copied = [*self._sets]
        #: Of the copied topics, those never dropped.
        self._kept = dict.fromkeys(self._copied)
        #: After the copy: topics of ``computeIfAbsent``, and -1 before a removed one.
        self._changes: list[int] = []
        self._slots = grown_capacity(len(previous), len(previous))
        #: Slots before each growth, and the number of changes until then.
        self._stages: list[tuple[int, int]] = []

    def partitions(self, topic: int) -> IntegerSet | None:
        """The set of a topic, or ``None``."""
        held = self._sets.get(topic)
        if held is not None and not isinstance(held, IntegerSet):
            held = self._sets[topic] = IntegerSet.copy_of(held)
        return held

    def drop(self, topic: int) -> None:
        """Removes a topic; no effect if it is absent."""
        if self._sets.pop(topic, None) is not None:
            self._kept.pop(topic, None)
            self._changes += (-1, topic)

    def add(self, topic: int, partitions: Sequence[int], slots: int = DEFAULT_CAPACITY) -> None:
        """Adds partitions one after the other, each with a ``computeIfAbsent`` of its topic.

        Args:
            slots: Of a new set.
        """
        held = self._called(topic)
        if held is None:
            self._changes.append(topic)
            # A copy of so few has as many slots.
            is_small = slots == DEFAULT_CAPACITY and len(partitions) <= _MOST_IN_COPY
            self._sets[topic] = partitions if is_small else IntegerSet(slots, partitions)
            if len(partitions) > 1:
                self._called(topic)
        else:
            held.add_all(partitions)

    def _called(self, topic: int) -> IntegerSet | None:
        # A full table grows at the next call, even if that finds its key.
        if 4 * len(self._sets) > 3 * self._slots:
            self._stages.append((self._slots, len(self._changes)))
            self._slots *= 2
            if topic in self._sets:
                self._changes.append(topic)
        return self.partitions(topic)

    def in_order(self) -> list[tuple[int, Sequence[int]]]:
        """Topics and partitions in Kafka's order, without empty topics."""
        return [(topic, _copied_order(held)) for topic in self._topics() if (held := self._sets[topic])]

    def _topics(self) -> Sequence[int]:
        if len(self._sets) <= 1:
            return [*self._sets]
        if not self._is_plain():
            return self._replayed()
        # New keys come to the front of their slots.
        topics = [*[*self._sets][len(self._kept) :][::-1], *self._kept]
        mask, hashes = self._slots - 1, self._keys.hashes
        return sorted(topics, key=lambda topic: spread(hashes[topic]) & mask)

    def _is_plain(self) -> bool:
        copied = len(self._copied)
        if copied + len(self._changes) < MAX_CHAIN:
            return True
        hashes = self._keys.hashes
        if not stays_plain([hashes[topic] for topic in self._copied], copied):
            return False
        # Topics that were never in the table together count, too.
        found = [*self._copied, *self._changes]
        for slots, changes in [*self._stages, (self._slots, len(self._changes))]:
            distinct = {topic for topic in found[: copied + changes + 1] if topic >= 0}
            # A slot becomes a tree with its eighth new key.
            if max(Counter(spread(hashes[topic]) & slots - 1 for topic in distinct).values()) >= MAX_CHAIN:
                return False
        return True

    def _replayed(self) -> Sequence[int]:
        hashes, sort_keys = self._keys.hashes, self._keys.sort_keys
        table: JavaHashTable[int, None] = JavaHashTable(hashes.__getitem__, sort_keys.__getitem__, len(self._copied))
        for topic in self._copied:
            table.put(topic, None)
        removes = False
        for topic in self._changes:
            if topic < 0:
                removes = True
            elif removes:
                table.remove(topic)
                removes = False
            else:
                table.compute_if_absent(topic, None)
        return list(table)


def _copied_order(held: IntegerSet | Sequence[int]) -> Sequence[int]:
    if isinstance(held, IntegerSet):
        return held.in_order()
    return held if len(held) <= 1 else IntegerSet.copy_of(held).in_order()
