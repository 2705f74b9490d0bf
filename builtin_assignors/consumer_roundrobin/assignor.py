"""``consumer_roundrobin``: Kafka's ``RoundRobinAssignor`` behind the SPI for consumer groups."""

from __future__ import annotations

from bisect import bisect_left

from assignment_api.consumer import (
    ConsumerGroupState,
    ConsumerPartitionAssignor,
    EmptyConsumerGroupError,
    PartitionAssignment,
)
from assignment_api.tracing import Traced
from builtin_assignors._consumer_steps import NumberedGroup, in_turn, numbered
from builtin_assignors._partition_rules import traced_deal

__all__ = ["RoundRobinAssignor"]


class RoundRobinAssignor(ConsumerPartitionAssignor):
    """``org.apache.kafka.clients.consumer.RoundRobinAssignor``, with identical answers.

    The partitions of all topics, in order, are dealt in turn to a ring of members; a member that does not subscribe the
    topic is passed over. Racks and former owners are not read. O(partitions + subscriptions).
    """

    def assign(self, group: ConsumerGroupState) -> PartitionAssignment:
        """Deal the partitions.

        Raises:
            EmptyConsumerGroupError: if there are no members.
        """
        if not group.members:
            raise EmptyConsumerGroupError("CircularIterator can only be used on non-empty lists: the group is empty")
        known = numbered(group)
        return known.answer(_dealt(known))

    def traced(self, group: ConsumerGroupState) -> Traced[PartitionAssignment]:
        return traced_deal(group, self.assign(group))


def _dealt(group: NumberedGroup) -> list[list[tuple[int, range]]]:
    ring = in_turn(group)
    places: list[list[int]] = [[] for _ in group.names]
    for place, member in enumerate(ring):
        for topic in dict.fromkeys(group.listed[member]):
            places[topic].append(place)
    held: list[list[tuple[int, range]]] = [[] for _ in ring]
    at = 0
    for topic, subscribers in enumerate(places):
        size, count = group.sizes[topic], len(subscribers)
        start = bisect_left(subscribers, at) % count
        for step in range(min(count, size)):
            member = ring[subscribers[(start + step) % count]]
            held[member].append((topic, range(step, size, count)))
        at = subscribers[(start + size - 1) % count] + 1
    return held
