"""``consumer_range``: Kafka's ``RangeAssignor`` behind the SPI for consumer groups."""

from __future__ import annotations

from assignment_api.consumer import ConsumerGroupState, ConsumerPartitionAssignor, PartitionAssignment
from assignment_api.tracing import Traced
from builtin_assignors._consumer_steps import NumberedGroup, in_turn, numbered
from builtin_assignors._partition_rules import traced_ranges
from builtin_assignors.consumer_range.ranges import RangeTopic, match_racks, split_rest

__all__ = ["RangeAssignor"]


class RangeAssignor(ConsumerPartitionAssignor):
    """``org.apache.kafka.clients.consumer.RangeAssignor`` with racks (KIP-881), with identical answers.

    Each topic is cut into contiguous ranges, one for each subscriber, static members first. If a topic needs racks, a
    first pass gives members partitions with a replica in their rack, in topics with the same members and sizes the same
    numbers. Former owners are not read. O(partitions + subscriptions) besides sorting.
    """

    def assign(self, group: ConsumerGroupState) -> PartitionAssignment:
        """Cut the topics; members come in the order of the input."""
        known = numbered(group)
        topics = _topics(known)
        uses_racks = any(topic.needs_racks for topic in topics)
        if uses_racks:
            match_racks(topics, known.racks)
        held: list[list[tuple[int, list[int]]]] = [[] for _ in known.ids]
        for number in range(len(topics)) if uses_racks else known.in_hash_order:
            for member, partitions in split_rest(topics[number]):
                held[member].append((number, partitions))
        return known.answer(held)

    def traced(self, group: ConsumerGroupState) -> Traced[PartitionAssignment]:
        uses_racks = any(topic.needs_racks for topic in _topics(numbered(group)))
        racks = {name: topic.racks for name, topic in group.topics.items() if topic.racks is not None}
        return traced_ranges(group, self.assign(group), racks if uses_racks else None)


def _topics(known: NumberedGroup) -> list[RangeTopic]:
    turn = {member: place for place, member in enumerate(in_turn(known))}
    has_racks = any(known.racks)
    return [
        RangeTopic.of(
            sorted(members, key=turn.__getitem__),
            known.racks,
            known.sizes[number],
            known.racks_of(number) if has_racks else (),
        )
        for number, members in enumerate(known.subscribers())
    ]
