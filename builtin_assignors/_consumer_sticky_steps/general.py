"""Placement if members subscribe different topics. Kafka: ``AbstractStickyAssignor.GeneralAssignmentBuilder``.

Former owners keep their partitions, free ones go to the member with the fewest, then single partitions move while that
evens out the sizes. A partition moves to a former owner even if that no longer subscribes its topic.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

import attrs

from assignment_api.consumer import LostOwnerError
from assignment_api.java import topic_partition_hash
from builtin_assignors._consumer_steps import NumberedGroup
from builtin_assignors._consumer_sticky_steps.alike import merged_out
from builtin_assignors._consumer_sticky_steps.claims import Claims
from builtin_assignors._consumer_sticky_steps.movements import PartitionMovements
from builtin_assignors._consumer_sticky_steps.pairs import UnevenPairs
from builtin_assignors._consumer_sticky_steps.racks import StickyRacks
from builtin_assignors._consumer_sticky_steps.reports import NO_GENERATION, MemberReport

__all__ = ["placed_in_general"]


def placed_in_general(
    group: NumberedGroup,
    claims: Claims,
    reports: Sequence[MemberReport],
    racks: StickyRacks,
    order: Sequence[int],
    id_keys: Sequence[bytes],
) -> list[list[int]]:
    """Partitions of each member; arguments as for ``placed_alike``."""
    potential: list[list[int]] = [[] for _ in group.names]
    for member in group.order:
        for topic in group.listed[member]:
            potential[topic].append(member)
    former = _former_owners(group, claims, reports)
    placing = _Placing.of(group, claims, racks, potential, former, id_keys)
    left = placing.keep_owned(order)
    placing.fill(left)
    placing.balance(left)
    return placing.held


def _former_owners(group: NumberedGroup, claims: Claims, reports: Sequence[MemberReport]) -> dict[int, int]:
    """Partition to the member that held it in the latest generation before the highest one."""
    latest: dict[int, tuple[int, int]] = {}
    for member in group.order:
        reported = reports[member].generation
        generation = NO_GENERATION if reported is None else reported
        if generation >= claims.max_generation:
            continue
        for partition in claims.numbers(group, reports[member]):
            if partition not in latest or generation > latest[partition][1]:
                latest[partition] = member, generation
    return {partition: member for partition, (member, _) in latest.items()}


@attrs.define(eq=False)
class _Placing:
    """A placement in progress.

    Args:
        subscribed: Topics of each member.
        potential: Subscribers of each topic in hash order, repetitions included.
        former: Partition to its former owner.
        every: Partitions that exist, by number of subscribers, topic, partition; later those that may move.
        most: Partitions that each member could have, as Kafka counts them.
        rank: Place of each member's id in the order of ids.
        held: Partitions of each member.
        owner: Partition to its owner.
        ranked: ``size * members + rank`` of the members in the game, ascending.
        order: Members in the iteration order of the map of the assignment.
        is_in: For each member, true if it is in the game.
        pairs: Members as a quick test of balance; ``None`` if a partition has no owner in the game, or two.
    """

    group: NumberedGroup
    claims: Claims
    racks: StickyRacks
    subscribed: list[frozenset[int]]
    potential: list[list[int]]
    former: dict[int, int]
    every: list[int]
    most: list[int]
    rank: list[int]
    by_rank: list[int]
    movements: PartitionMovements
    held: list[list[int]]
    owner: dict[int, int] = attrs.field(factory=dict)
    ranked: list[int] = attrs.field(factory=list)
    order: Sequence[int] = ()
    is_in: list[bool] = attrs.field(factory=list)
    has_revoked: bool = False
    is_initializing: bool = False
    pairs: UnevenPairs | None = None

    @classmethod
    def of(
        cls,
        group: NumberedGroup,
        claims: Claims,
        racks: StickyRacks,
        potential: list[list[int]],
        former: dict[int, int],
        id_keys: Sequence[bytes],
    ) -> _Placing:
        topics = sorted(range(len(potential)), key=lambda topic: (len(potential[topic]), topic))
        every = [group.first[topic] + each for topic in topics for each in range(group.sizes[topic])]
        subscribed = {listed: frozenset(listed) for listed in group.listed}
        most = {
            listed: group.partitions if len(listed) == len(group.names) else sum(group.sizes[topic] for topic in listed)
            for listed in subscribed
        }
        by_rank = sorted(range(len(id_keys)), key=id_keys.__getitem__)
        rank = [0] * len(by_rank)
        for place, member in enumerate(by_rank):
            rank[member] = place
        topic_of, number_of, names = claims.topic_of, claims.number_of, group.names

        def hash_of(partition: int) -> int:
            return topic_partition_hash(names[topic_of[partition]], number_of[partition])

        return cls(
            group,
            claims,
            racks,
            [subscribed[listed] for listed in group.listed],
            potential,
            former,
            every,
            [most[listed] for listed in group.listed],
            rank,
            by_rank,
            PartitionMovements(topic_of, hash_of),
            [[] for _ in id_keys],
            is_in=[True] * len(id_keys),
        )

    # --- keeping and filling ----------------------------------------------------------------------

    def keep_owned(self, order: Sequence[int]) -> list[int]:
        """Members keep what they own and subscribe; returns the rest, in Kafka's order."""
        self.order = order
        topic_of, number_of = self.claims.topic_of, self.claims.number_of
        kept: list[int] = []
        for member in order:
            for partition in self.claims.owned[member]:
                self.owner[partition] = member
        for member in order:
            owned = self.claims.owned[member]
            subscribed = self.subscribed[member]
            stays = [each for each in owned if topic_of[each] in subscribed and not self.racks.mismatch(member, each)]
            self.has_revoked = self.has_revoked or len(stays) < len(owned)
            self.held[member] = stays
            kept += stays
        count = len(self.held)
        self.ranked = sorted(len(own) * count + self.rank[member] for member, own in enumerate(self.held))
        kept.sort(key=lambda each: (len(self.potential[topic_of[each]]), topic_of[each], number_of[each]))
        return merged_out(self.every, kept)

    def fill(self, left: Iterable[int]) -> None:
        """Gives free partitions to the first subscriber in rank, with matching racks if they are used."""
        self.is_initializing = not self.held[self.by_rank[self.ranked[-1] % len(self.held)]]
        if self.racks.are_used:
            left = [partition for partition in left if not self._give(partition, by_rack=True)]
        for partition in left:
            self._give(partition, by_rack=False)

    def _give(self, partition: int, *, by_rack: bool) -> bool:
        topic = self.claims.topic_of[partition]
        for key in self.ranked:
            member = self.by_rank[key % len(self.held)]
            if topic in self.subscribed[member] and not (by_rack and self.racks.mismatch(member, partition)):
                self._unrank(member)
                self.held[member].append(partition)
                self.owner[partition] = member
                self._rank(member)
                return True
        return False

    def _rank(self, member: int) -> None:
        insort(self.ranked, len(self.held[member]) * len(self.held) + self.rank[member])

    def _unrank(self, member: int) -> None:
        key = len(self.held[member]) * len(self.held) + self.rank[member]
        place = bisect_left(self.ranked, key)
        # A former owner may have left the game; Kafka's set then has nothing to remove.
        if place < len(self.ranked) and self.ranked[place] == key:
            del self.ranked[place]

    # --- balancing --------------------------------------------------------------------------------

    def balance(self, left: list[int]) -> None:
        """Moves partitions while that evens out the sizes, unless the result is no better."""
        topic_of, potential = self.claims.topic_of, self.potential
        self.every = [each for each in self.every if len(potential[topic_of[each]]) > 1]
        left = [each for each in left if len(potential[topic_of[each]]) > 1]
        for member, own in enumerate(self.held):
            if len(own) >= self.most[member] and not any(len(potential[topic_of[each]]) > 1 for each in own):
                self._unrank(member)
                self.is_in[member] = False
        before = [list(own) for own in self.held]
        if self._is_regular():
            self.pairs = UnevenPairs.of(self.held, topic_of, [frozenset(listed) for listed in self.group.listed])
        if not self.has_revoked:
            self._reassign(left)
        has_changed = self._reassign(self.every)
        if not self.is_initializing and has_changed and self._score(self.held) >= self._score(before):
            for member, own in enumerate(before):
                if self.is_in[member]:
                    self.held[member] = own

    def _is_regular(self) -> bool:
        """True if each partition that a member in the game subscribes has one owner, in the game."""
        claims = self.claims
        held = [each for member, own in enumerate(self.held) if self.is_in[member] for each in own]
        if len(set(held)) < len(held) or any(each >= len(claims.topic_of) - len(claims.extra) for each in held):
            return False
        owned = set(held)
        for topic, members in enumerate(self.potential):
            in_game = [self.is_in[member] for member in members]
            if len(members) > 1 and not all(in_game):
                return False
            first = self.group.first[topic]
            if any(in_game) and not owned.issuperset(range(first, first + self.group.sizes[topic])):
                return False
        return True

    def _score(self, held: Sequence[Sequence[int]]) -> int:
        """Sum of the differences of sizes over all pairs of members in the game."""
        sizes = sorted(len(own) for member, own in enumerate(held) if self.is_in[member])
        return sum((2 * place - len(sizes) + 1) * size for place, size in enumerate(sizes))

    def _reassign(self, partitions: Sequence[int]) -> bool:
        has_changed = False
        while True:
            has_moved = False
            for partition in partitions:
                if self._is_balanced():
                    break
                new = self._better_owner(partition)
                if new is not None:
                    self._move(partition, new)
                    has_moved = has_changed = True
            if not has_moved:
                return has_changed

    def _better_owner(self, partition: int) -> int | None:
        owner = self.owner.get(partition)
        size = self._size(owner)
        former = self.former.get(partition)
        if former is not None and size > self._size(former) + 1:
            return former
        topic = self.claims.topic_of[partition]
        if self.pairs is not None:
            # All of Kafka's loops find a smaller member if the smallest one is.
            new = self._first_subscriber(topic)
            return new if new is not None and size > len(self.held[new]) + 1 else None
        others = self.potential[topic]
        # Kafka looks for any smaller member, and then takes the first in rank.
        if self.racks.are_used and owner is not None:
            rack, racks = self.racks.of_member[owner], self.racks.of(partition)
            if rack is not None and rack in racks:
                for other in others:
                    if self.racks.of_member[other] in racks and size > self._size(other) + 1:
                        return self._first_subscriber(topic)
        for other in others:
            if size > self._size(other) + 1:
                return self._first_subscriber(topic)
        return None

    def _first_subscriber(self, topic: int) -> int | None:
        for key in self.ranked:
            member = self.by_rank[key % len(self.held)]
            if topic in self.subscribed[member]:
                return member
        return None

    def _size(self, member: int | None) -> int:
        if member is None or not self.is_in[member]:
            raise LostOwnerError("a partition has no owner in the balanced part of the group")
        return len(self.held[member])

    def _move(self, partition: int, new: int) -> None:
        moved = self.movements.actual(partition, self.owner[partition], new)
        old = self.owner[moved]
        self._unrank(old)
        self._unrank(new)
        self.movements.move(moved, old, new)
        if moved in self.held[old]:
            self.held[old].remove(moved)
        self.held[new].append(moved)
        if self.pairs is not None:
            self.pairs.move(self.claims.topic_of[moved], old, new)
        self.owner[moved] = new
        if new != old:
            self._rank(new)
        self._rank(old)

    def _is_balanced(self) -> bool:
        count = len(self.held)
        least, largest = self.ranked[0] // count, self.ranked[-1] // count
        if least >= largest - 1:
            return True
        if self.pairs is not None:
            return self.pairs.are_balanced(self.held, self.most, [self.by_rank[key % count] for key in self.ranked])
        owner: dict[int, int] = {}
        for member in self.order:
            if self.is_in[member]:
                owner.update(dict.fromkeys(self.held[member], member))
        for key in self.ranked:
            member = self.by_rank[key % count]
            size = len(self.held[member])
            if size == self.most[member]:
                continue
            own = set(self.held[member])
            for topic in self.group.listed[member]:
                first = self.group.first[topic]
                for partition in range(first, first + self.group.sizes[topic]):
                    if partition not in own and size + 1 < self._size(owner.get(partition)):
                        return False
        return True
