"""Steps of the simple assignor, for all partitions together or for those of one topic.

Each partition gets about as many members as the others, and each member as many partitions. Kafka keeps both in hash
tables, whose order decides (``SimpleHomogeneousAssignmentBuilder``, ``SimpleHeterogeneousAssignmentBuilder``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from assignment_api.consumer import UnfilledMembersExhaustedError
from assignment_api.java import iteration_order, iteration_order_of_computed, spread
from builtin_assignors._broker_consumer_steps import BrokerProblem, IntegerSet, MemberTarget, Previous

__all__ = ["ChangedTargets", "Partition", "Sharing", "shares"]

#: Numbers of topic and partition.
Partition = tuple[int, int]


def shares(members: Sequence[int], targets: int) -> tuple[int, dict[int, int]]:
    """Members of each partition, and partitions of each member, as Kafka rounds its doubles."""
    sharing = -(-len(members) // targets) if targets else 0
    share = sharing * targets / len(members)
    bounds = [math.ceil(share * number) for number in range(len(members) + 1)]
    return sharing, {member: bounds[place + 1] - bounds[place] for place, member in enumerate(members)}


class ChangedTargets:
    """The members' targets: the previous one until the first change."""

    __slots__ = ("_changed", "_keys", "previous")

    def __init__(self, problem: BrokerProblem) -> None:
        #: By member.
        self.previous = problem.previous()
        self._keys = problem.keys
        self._changed: dict[int, MemberTarget] = {}

    def of(self, member: int) -> MemberTarget:
        """The changeable target of a member."""
        found = self._changed.get(member)
        if found is None:
            found = self._changed[member] = MemberTarget(self.previous[member], self._keys)
        return found

    def in_order(self) -> list[Previous]:
        """All targets, without empty topics."""
        return [
            self._changed[member].in_order()
            if member in self._changed
            else [(topic, partitions) for topic, partitions in previous if partitions]
            for member, previous in enumerate(self.previous)
        ]


class Sharing:
    """Members of each partition, and partitions of each member.

    Args:
        targets: The members' targets, to be changed.
        hash_of: Hash code of a partition.
        sharing: Wanted members of each partition.
        wanted: Wanted partitions by member; missing members want none.
        slots: Of the table of partitions.
    """

    def __init__(
        self,
        targets: ChangedTargets,
        hash_of: Callable[[Partition], int],
        sharing: int,
        wanted: Mapping[int, int],
        slots: int,
    ) -> None:
        self._targets = targets
        self._hash_of = hash_of
        self._sharing = sharing
        self._wanted = wanted
        self._slots = slots
        self._numbers: dict[Partition, int] = {}
        #: Partition of each call of ``computeIfAbsent``, as its number.
        self._calls: list[int] = []
        #: Members of the partitions of previous targets; a tuple of at most one until there is a second.
        self._sharers: dict[Partition, IntegerSet | tuple[int, ...]] = {}
        self._held: dict[int, dict[Partition, None]] = {}

    def note(self, topic: int, numbers: Sequence[int], member: int) -> None:
        """Partitions of a previous target."""
        partitions = [(topic, number) for number in numbers]
        self.add(partitions)
        sharers = self._sharers
        alone = (member,)
        for partition in partitions:
            members = sharers.setdefault(partition, alone)
            if members is not alone:
                if isinstance(members, tuple):
                    members = sharers[partition] = IntegerSet(numbers=members)
                members.add_all(alone)
        if partitions:
            self._held.setdefault(member, {}).update(dict.fromkeys(partitions))

    def lacks(self, member: int) -> bool:
        """True if the member has fewer partitions than wanted."""
        return len(self._held.get(member, ())) < self._wanted.get(member, 0)

    def drop_surplus(self) -> None:
        """Members with too many partitions drop some from the front of their sets."""
        for member, held in self._held.items():
            surplus = len(held) - self._wanted.get(member, 0)
            if surplus > 0:
                partitions = list(held)
                order = iteration_order(partitions, list(map(self._hash_of, partitions)))
                for partition in order[:surplus]:
                    self._leave(partition, member)

    def drop_sharers(self) -> set[int]:
        """Partitions with too many members drop some from the front of their sets; returns these members."""
        dropped = set()
        for partition in self._in_order() if self._has_surplus() else ():
            members = self._sharers.get(partition, ())
            if len(members) > self._sharing:
                order = members if isinstance(members, tuple) else members.in_order()
                for member in order[: len(members) - self._sharing]:
                    self._leave(partition, member)
                    dropped.add(member)
        return dropped

    def add(self, partitions: Sequence[Partition]) -> None:
        """Partitions to be shared, perhaps known from previous targets."""
        numbers = self._numbers
        self._calls += [numbers.setdefault(partition, len(numbers)) for partition in partitions]

    def fill(self, unfilled: list[int]) -> None:
        """Gives partitions to members in turn, each partition up to its wanted members.

        Args:
            unfilled: Members below their wanted number, ascending. Members that reach it are removed.

        Raises:
            UnfilledMembersExhaustedError: if none is left for a partition: its former members hold partitions that are
                not assignable.
        """
        if not unfilled:
            return
        cursor = 0
        has_given = False
        for partition in self._in_order():
            # Kafka does not add members to this set: after a restart one may come again.
            members = self._sharers.get(partition, ())
            missing = self._sharing - len(members)
            while missing > 0:
                if cursor == len(unfilled):
                    if not has_given:
                        break
                    if not unfilled:
                        raise UnfilledMembersExhaustedError(
                            "no member with room is left for a partition: Kafka fails where previous targets hold "
                            "partitions that are not initialised; correct `assignable` or `assigned`"
                        )
                    cursor, has_given = 0, False
                member = unfilled[cursor]
                cursor += 1
                if member in members:
                    continue
                self._targets.of(member).add(partition[0], partition[1:])
                self._held.setdefault(member, {})[partition] = None
                missing -= 1
                has_given = True
                if not self.lacks(member):
                    cursor -= 1
                    del unfilled[cursor]
            if not unfilled:
                return

    def _has_surplus(self) -> bool:
        return any(len(members) > self._sharing for members in self._sharers.values())

    def _in_order(self) -> list[Partition]:
        partitions = list(self._numbers)
        spreads = [spread(self._hash_of(partition)) for partition in partitions]
        order = iteration_order_of_computed(self._calls, spreads, self._slots)
        return [partitions[number] for number in order]

    def _leave(self, partition: Partition, member: int) -> None:
        members = self._sharers[partition]
        if isinstance(members, tuple):
            self._sharers[partition] = ()
        else:
            members.remove(member)
        held = self._targets.of(member).partitions(partition[0])
        assert held is not None
        held.remove(partition[1])
        del self._held[member][partition]
