"""The two passes of Kafka's range assignor, on numbers: partitions by rack, then the rest in ranges.

Kafka: ``RangeAssignor.TopicAssignmentState``, ``assignWithRackMatching``, ``assignRanges``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

__all__ = ["RangeTopic", "match_racks", "split_rest"]


@attrs.define(eq=False)
class RangeTopic:
    """A topic while it is cut.

    Args:
        members: Subscribers in the order in which they take.
        racks: Of each partition; empty if no subscriber has a rack.
        quota: Partitions of each member.
        extra: Members that may still take one more.
        got: Partitions of each member so far, of the first pass.
        is_taken: For each partition.
    """

    members: Sequence[int]
    size: int
    racks: Sequence[frozenset[str]]
    needs_racks: bool
    quota: int
    extra: int
    got: dict[int, list[int]] = attrs.field(factory=dict)
    is_taken: bytearray = attrs.field(factory=bytearray)

    @classmethod
    def of(
        cls,
        members: Sequence[int],
        racks_of_members: Sequence[str | None],
        size: int,
        racks: Sequence[frozenset[str]],
    ) -> RangeTopic:
        wanted = {rack for member in members if (rack := racks_of_members[member]) is not None}
        present = frozenset[str]().union(*set(racks)) if wanted else frozenset[str]()
        needs = not wanted.isdisjoint(present) and any(each != present for each in set(racks))
        quota, extra = divmod(size, len(members))
        return cls(members, size, racks if wanted else (), needs, quota, extra)

    def room(self, member: int) -> int:
        """Partitions that a member may still take; it never grows."""
        return max(0, self.quota + (self.extra > 0) - len(self.got.get(member, ())))

    def give(self, member: int, partitions: Sequence[int]) -> None:
        if not self.is_taken:
            self.is_taken = bytearray(self.size)
        for partition in partitions:
            self.is_taken[partition] = 1
        held = self.got.setdefault(member, [])
        held += partitions
        if len(held) > self.quota:
            self.extra -= 1


def match_racks(topics: Sequence[RangeTopic], racks: Sequence[str | None]) -> None:
    """First pass: gives partitions to members in their rack; topics with the same members and size go together."""
    alike: dict[tuple[tuple[int, ...], int], list[RangeTopic]] = {}
    for topic in topics:
        alike.setdefault((tuple(topic.members), len(topic.racks)), []).append(topic)
    for (members, size), together in alike.items():
        if len(together) > 1:
            _match_together(together, members, size, racks)
        elif together[0].needs_racks:
            _match_alone(together[0], racks)


def _match_together(
    topics: Sequence[RangeTopic], members: Sequence[int], size: int, racks: Sequence[str | None]
) -> None:
    """Gives the same partition of all topics to the first member with room that all of them match.

    The topics have the same members and sizes, so room is the same in each.
    """
    waiting: dict[str | None, Iterator[tuple[int, int]]] = {}
    head: dict[str | None, tuple[int, int] | None] = {}
    for rack in dict.fromkeys(racks[member] for member in members):
        waiting[rack] = iter([(place, member) for place, member in enumerate(members) if racks[member] == rack])
        head[rack] = next(waiting[rack])
    first = topics[0]
    for partition in range(size):
        common = frozenset.intersection(*(topic.racks[partition] for topic in topics))
        best: tuple[int, int] | None = None
        for rack, found in head.items():
            if rack is not None and rack not in common:
                continue
            while found is not None and not first.room(found[1]):
                found = head[rack] = next(waiting[rack], None)
            if found is not None and (best is None or found < best):
                best = found
        if best is not None:
            for topic in topics:
                topic.give(best[1], (partition,))


def _match_alone(topic: RangeTopic, racks: Sequence[str | None]) -> None:
    of_rack: dict[str, Iterator[int]] = {}
    for rack in {rack for member in topic.members if (rack := racks[member]) is not None}:
        of_rack[rack] = iter([partition for partition, each in enumerate(topic.racks) if rack in each])
    every = iter(range(topic.size))
    for member in topic.members:
        rack, room = racks[member], topic.room(member)
        if not room:
            continue
        # What an iterator has passed is taken: it is given at once, or was taken before.
        source = every if rack is None else of_rack[rack]
        taken = topic.is_taken or bytearray(topic.size)
        partitions: list[int] = []
        for partition in source:
            if not taken[partition]:
                partitions.append(partition)
                if len(partitions) == room:
                    break
        if partitions:
            topic.give(member, partitions)


def split_rest(topic: RangeTopic) -> list[tuple[int, list[int]]]:
    """Second pass: members in order take what is left; each member with its partitions, ascending."""
    left = [each for each in range(topic.size) if not topic.is_taken[each]] if topic.is_taken else range(topic.size)
    at, quota, extra = 0, topic.quota, topic.extra
    found: list[tuple[int, list[int]]] = []
    for member in topic.members:
        held = topic.got.get(member, ())
        room = max(0, quota + (extra > 0) - len(held))
        more = left[at : at + room]
        at += len(more)
        if more and len(held) + len(more) > quota:
            extra -= 1
        if held or more:
            found.append((member, sorted((*held, *more))))
    return found
