"""Placement if all members subscribe the same topics. Kafka: ``AbstractStickyAssignor.ConstrainedAssignmentBuilder``.

Members keep what they own up to their quota; the rest goes in turn to members that have room. Time: O(partitions log
partitions), with racks O(partitions x members) at worst.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignment_api.consumer import NoMembersError, NoUnfilledMemberError
from builtin_assignors._consumer_sticky_steps.claims import Claims
from builtin_assignors._consumer_sticky_steps.racks import StickyRacks

__all__ = ["placed_alike"]


@attrs.define(eq=False)
class _Filling:
    """Members with room.

    Args:
        low: Partitions of every member.
        over: Members that get one more.
        now: Members that have one more.
        under: Members with fewer than ``low`` partitions.
        exact: Members with ``low`` partitions that may get one more.
        revoked: Partition to the member that gives it up.
        moving: Partition to its new member, if its former owner must give it up first.
    """

    low: int
    high: int
    over: int
    held: list[list[int]]
    now: int = 0
    under: list[int] = attrs.field(factory=list)
    exact: list[int] = attrs.field(factory=list)
    revoked: dict[int, int] = attrs.field(factory=dict)
    moving: dict[int, int] = attrs.field(factory=dict)

    def give(self, member: int, partition: int, claims: Claims) -> None:
        self.held[member].append(partition)
        if self.revoked.get(partition, member) != member or partition in claims.claimed_twice:
            self.moving[partition] = member

    def one_more_is_full(self) -> None:
        self.now += 1
        if self.now == self.over:
            self.exact.clear()


def placed_alike(
    claims: Claims, racks: StickyRacks, order: Sequence[int], id_keys: Sequence[bytes], partitions: int
) -> tuple[list[list[int]], dict[int, int]]:
    """Partitions of each member, and the partitions to revoke first with their new members.

    Args:
        order: Members in the iteration order of the map of claims.
        id_keys: Sort key of each member's id.
        partitions: Number of partitions that exist.
    """
    if not order:
        raise NoMembersError("/ by zero: the group has no members")
    low, over = divmod(partitions, len(order))
    filling = _Filling(low, low + (over > 0), over, [[] for _ in order])
    _keep_owned(filling, claims, racks, order)
    left = _left(filling.held, claims, partitions)
    filling.under.sort(key=id_keys.__getitem__)
    filling.exact.sort(key=id_keys.__getitem__)
    if racks.near:
        left.sort(key=racks.near.__getitem__)
    if racks.are_used:
        left = _fill_by_rack(filling, claims, racks, left)
    _fill_in_turn(filling, claims, left)
    if filling.under and (filling.now != over or any(len(filling.held[each]) != low for each in filling.under)):
        raise NoUnfilledMemberError("members remain with fewer partitions than the others")
    return filling.held, filling.moving


def _keep_owned(filling: _Filling, claims: Claims, racks: StickyRacks, order: Sequence[int]) -> None:
    topic_of, number_of = claims.topic_of, claims.number_of
    for member in order:
        owned = claims.owned[member]
        if racks.are_used:
            filling.revoked.update((each, member) for each in owned if racks.mismatch(member, each))
            owned = [each for each in owned if not racks.mismatch(member, each)]
        owned = sorted(owned, key=lambda each: (number_of[each], topic_of[each]))
        if claims.claimed_twice:
            owned = _without_first(owned, claims.claimed_twice)
        if len(owned) < filling.low:
            filling.under.append(member)
            kept = len(owned)
        elif len(owned) >= filling.high and filling.now < filling.over:
            filling.one_more_is_full()
            kept = filling.high
        else:
            kept = filling.low
            if filling.now < filling.over:
                filling.exact.append(member)
        filling.held[member] = owned[:kept]
        filling.revoked.update(dict.fromkeys(owned[kept:], member))


def _without_first(owned: list[int], dropped: set[int]) -> list[int]:
    """Without one occurrence of each."""
    waiting = dropped.intersection(owned)
    kept: list[int] = []
    for partition in owned:
        if partition in waiting:
            waiting.discard(partition)
        else:
            kept.append(partition)
    return kept


def _left(held: Sequence[Sequence[int]], claims: Claims, partitions: int) -> list[int]:
    kept = [partition for own in held for partition in own]
    if not claims.extra and len(set(kept)) == len(kept):
        is_kept = bytearray(partitions)
        for partition in kept:
            is_kept[partition] = 1
        return [partition for partition in range(partitions) if not is_kept[partition]]
    kept.sort(key=lambda each: (claims.topic_of[each], claims.number_of[each]))
    return merged_out(range(partitions), kept)


def merged_out(every: Sequence[int], kept: Sequence[int]) -> list[int]:
    """The partitions of ``every`` that are not kept, by a merge of two sorted lists.

    After a kept partition that does not exist, or exists twice in the list, Kafka's merge meets no further one: the
    rest counts as left.
    """
    waiting = iter(kept)
    awaited = next(waiting, None)
    left: list[int] = []
    for partition in every:
        if partition == awaited:
            awaited = next(waiting, None)
        else:
            left.append(partition)
    return left


def _fill_by_rack(filling: _Filling, claims: Claims, racks: StickyRacks, left: Sequence[int]) -> list[int]:
    """Gives partitions to members with room in their racks; returns those that found none."""
    turn, remaining = 0, []
    under, exact, held, low, high = filling.under, filling.exact, filling.held, filling.low, filling.high
    for partition in left:
        near = racks.of(partition)
        found = _next_near(under, racks, near, turn)
        if found is not None:
            member = under[found]
            size = len(held[member]) + 1
            if size >= low:
                del under[found]
                if size < high and filling.now < filling.over:
                    exact.append(member)
            else:
                found += 1
            turn = found % len(under) if under else 0
        else:
            place = _next_near(exact, racks, near, 0)
            if place is None:
                remaining.append(partition)
                continue
            member = exact[place]
            if len(held[member]) + 1 == high:
                del exact[place]
                filling.one_more_is_full()
        filling.give(member, partition, claims)
    return remaining


def _next_near(members: Sequence[int], racks: StickyRacks, near: frozenset[str], start: int) -> int | None:
    if near:
        of_member, count = racks.of_member, len(members)
        for step in range(count):
            place = (start + step) % count
            if of_member[members[place]] in near:
                return place
    return None


def _fill_in_turn(filling: _Filling, claims: Claims, left: Sequence[int]) -> None:
    under, held, low, high = filling.under, filling.held, filling.low, filling.high
    # The queue is read from here, so that taking its head is cheap.
    exact, head, cursor = filling.exact, 0, 0
    for partition in left:
        from_under = bool(under)
        if from_under:
            if cursor >= len(under):
                cursor = 0
            member = under[cursor]
        elif head < len(exact):
            member = exact[head]
            head += 1
        else:
            raise NoUnfilledMemberError("No more unfilled consumers to be assigned.")
        filling.give(member, partition, claims)
        size = len(held[member])
        if from_under and size == low:
            del under[cursor]
            exact.append(member)
            continue
        if size == high:
            filling.now += 1
        if from_under:
            cursor += 1
