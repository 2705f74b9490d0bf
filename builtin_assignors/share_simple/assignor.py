"""``share_simple``: the coordinator's only assignor for share groups behind the SPI for share groups."""

from __future__ import annotations

from assignment_api.consumer import PartitionAssignment, ShareGroupPartitionAssignor, SubscribedGroup
from assignment_api.tracing import Traced
from builtin_assignors._broker_consumer_steps import decided
from builtin_assignors._partition_rules import traced_targets
from builtin_assignors.share_simple.algorithm import assigned

__all__ = ["ShareSimpleAssignor"]


class ShareSimpleAssignor(ShareGroupPartitionAssignor):
    """``coordinator.group.assignor.SimpleAssignor`` of Kafka 4.3.1 and 4.4.0, with identical answers.

    Members get about equally many partitions, and partitions about equally many members, as few as possible. Previous
    targets are kept as far as they fit. The answer depends on the hash of the member ids.
    """

    def assign(self, group: SubscribedGroup) -> PartitionAssignment:
        """Place every assignable partition of every subscribed topic.

        Raises:
            PartitionAssignorError: if a subscribed topic has no metadata.
            UnfilledMembersExhaustedError: if previous targets hold partitions that are not assignable, and no member
                with room is left.
        """
        return decided(group, assigned)

    def traced(self, group: SubscribedGroup) -> Traced[PartitionAssignment]:
        return traced_targets(group, self.assign(group))
