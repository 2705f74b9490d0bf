"""Members, topics and partitions of a consumer group as dense numbers, in Kafka's orders.

Topics that exist and have a subscriber are numbered by name (UTF-16), their partitions likewise: ascending numbers are
Kafka's order by topic and partition. Kafka: ``AbstractPartitionAssignor``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import attrs

from assignment_api.consumer import ConsumerGroupState, ConsumerTopic, PartitionAssignment
from assignment_api.java import iteration_order, string_hash
from assignment_api.streams.ids import utf16_key

__all__ = ["NumberedGroup", "in_turn", "numbered"]


@attrs.frozen(eq=False)
class NumberedGroup:
    """A group with numbers.

    Args:
        ids: Of the members, in the order of the JoinGroup response.
        order: Members in the iteration order of the leader's hash map.
        instances: ``group.instance.id`` of each member, or ``None``.
        racks: Rack of each member, or ``None``.
        names: Of the topics, ascending.
        sizes: Partitions of each topic.
        first: Number of each topic's partition 0.
        partitions: Number of all partitions.
        listed: For each member, the topics that exist, as it lists them, repetitions included. Members with equal
            lists share one.
        in_hash_order: Topics in the iteration order of Kafka's map of them.
    """

    group: ConsumerGroupState
    ids: Sequence[str]
    order: Sequence[int]
    instances: Sequence[str | None]
    racks: Sequence[str | None]
    names: Sequence[str]
    number: dict[str, int]
    sizes: Sequence[int]
    first: Sequence[int]
    partitions: int
    listed: Sequence[tuple[int, ...]]
    in_hash_order: Sequence[int]

    def topic(self, number: int) -> ConsumerTopic:
        return self.group.topics[self.names[number]]

    def racks_of(self, number: int) -> Sequence[frozenset[str]]:
        """Racks of each partition of a topic, replicas without a rack left out."""
        topic = self.topic(number)
        if topic.racks is None:
            return [frozenset()] * topic.partitions
        distinct = {racks: frozenset(rack for rack in racks if rack is not None) for racks in topic.racks}
        return [distinct[racks] for racks in topic.racks]

    def subscribers(self) -> list[list[int]]:
        """Members of each topic in hash order, each once."""
        found: list[list[int]] = [[] for _ in self.names]
        distinct: dict[tuple[int, ...], list[list[int]]] = {}
        for member in self.order:
            listed = self.listed[member]
            if listed not in distinct:
                distinct[listed] = [found[topic] for topic in dict.fromkeys(listed)]
            for members in distinct[listed]:
                members.append(member)
        return found

    def answer(self, held: Iterable[Iterable[tuple[int, Sequence[int]]]]) -> PartitionAssignment:
        """The answer, from topics with partition numbers within the topic, for each member."""
        names = self.names
        return PartitionAssignment(
            {
                member: {names[topic]: tuple(numbers) for topic, numbers in topics}
                for member, topics in zip(self.ids, held, strict=True)
            }
        )


def numbered(group: ConsumerGroupState) -> NumberedGroup:
    ids = list(group.members)
    order = iteration_order(range(len(ids)), list(map(string_hash, ids)), sort_key=lambda each: utf16_key(ids[each]))
    members = list(group.members.values())
    # Kafka: all subscribed topics into a set, those with partitions from there into a map.
    listed = dict.fromkeys(members[each].topics for each in order)
    subscribed = _hash_order(list(dict.fromkeys(chain.from_iterable(listed))))
    known = [name for name in subscribed if name in group.topics and group.topics[name].partitions]
    names = sorted(known, key=utf16_key)
    number = {name: each for each, name in enumerate(names)}
    sizes = [group.topics[name].partitions for name in names]
    first = [0] * len(sizes)
    for each in range(1, len(sizes)):
        first[each] = first[each - 1] + sizes[each - 1]
    numbers = {topics: tuple(number[name] for name in topics if name in number) for topics in listed}
    return NumberedGroup(
        group,
        ids,
        order,
        [member.instance_id for member in members],
        [member.rack_id or None for member in members],
        names,
        number,
        sizes,
        first,
        sum(sizes),
        [numbers[member.topics] for member in members],
        [number[name] for name in _hash_order(known)],
    )


def _hash_order(names: list[str]) -> list[str]:
    return iteration_order(names, list(map(string_hash, names)), sort_key=utf16_key)


def in_turn(group: NumberedGroup) -> list[int]:
    """Members as range and round robin sort them: static ones by instance id, then the others by member id.

    Kafka: ``AbstractPartitionAssignor.MemberInfo``.
    """
    static = [member for member in group.order if group.instances[member] is not None]
    dynamic = [member for member in group.order if group.instances[member] is None]
    return [
        *sorted(static, key=lambda member: utf16_key(group.instances[member] or "")),
        *sorted(dynamic, key=lambda member: utf16_key(group.ids[member])),
    ]
