"""``consumer_group_uniform``: the coordinator's default assignor behind the SPI for consumer groups."""

from __future__ import annotations

from assignment_api.consumer import ConsumerGroupPartitionAssignor, PartitionAssignment, SubscribedGroup
from assignment_api.tracing import Traced
from builtin_assignors._broker_consumer_steps import BrokerProblem, Targets, decided
from builtin_assignors._partition_rules import traced_targets
from builtin_assignors.consumer_group_uniform import heterogeneous, homogeneous

__all__ = ["ConsumerGroupUniformAssignor"]


class ConsumerGroupUniformAssignor(ConsumerGroupPartitionAssignor):
    """``coordinator.group.assignor.UniformAssignor`` of Kafka 4.3.1 and 4.4.0, with identical answers.

    Members keep previous partitions up to an even share. Free partitions fill the members in the order of the
    coordinator's hash map, so the answer depends on the hash of the member ids. Racks are ignored.
    """

    def assign(self, group: SubscribedGroup) -> PartitionAssignment:
        """Place every partition of every subscribed topic.

        Raises:
            PartitionAssignorError: if a subscribed topic has no metadata, or a previous target has a partition twice or
                out of range.
            PartitionOutOfRangeError: if that happens with unequal subscriptions.
        """
        return decided(group, _assigned)

    def traced(self, group: SubscribedGroup) -> Traced[PartitionAssignment]:
        return traced_targets(group, self.assign(group))


def _assigned(problem: BrokerProblem) -> Targets | None:
    return homogeneous.assigned(problem) if problem.is_homogeneous else heterogeneous.assigned(problem)
