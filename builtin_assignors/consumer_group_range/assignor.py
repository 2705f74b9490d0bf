"""``consumer_group_range``: the coordinator's range assignor behind the SPI for consumer groups."""

from __future__ import annotations

from assignment_api.consumer import ConsumerGroupPartitionAssignor, PartitionAssignment, SubscribedGroup
from assignment_api.tracing import Traced
from builtin_assignors._broker_consumer_steps import decided
from builtin_assignors._partition_rules import traced_ranges
from builtin_assignors.consumer_group_range.algorithm import assigned

__all__ = ["ConsumerGroupRangeAssignor"]


class ConsumerGroupRangeAssignor(ConsumerGroupPartitionAssignor):
    """``coordinator.group.assignor.RangeAssignor`` of Kafka 4.3.1 and 4.4.0, with identical answers.

    Each member gets a contiguous range of each topic that it subscribes. Static members come first, by instance id.
    Racks and previous targets are ignored.
    """

    def assign(self, group: SubscribedGroup) -> PartitionAssignment:
        """Place every partition of every subscribed topic.

        Raises:
            PartitionAssignorError: if a subscribed topic has no metadata.
        """
        return decided(group, assigned)

    def traced(self, group: SubscribedGroup) -> Traced[PartitionAssignment]:
        return traced_ranges(group, self.assign(group))
