"""``consumer_sticky``: Kafka's ``StickyAssignor`` behind the SPI for consumer groups."""

from __future__ import annotations

from assignment_api.consumer import ConsumerGroupState, ConsumerPartitionAssignor, PartitionAssignment
from assignment_api.tracing import Traced
from builtin_assignors._consumer_sticky_steps import sticky_answer, sticky_report
from builtin_assignors._partition_rules import traced_keeping

__all__ = ["StickyAssignor"]


class StickyAssignor(ConsumerPartitionAssignor):
    """``org.apache.kafka.clients.consumer.StickyAssignor``, with identical answers, for the eager protocol.

    Members keep the partitions of their user data as far as an even number for each member allows it. With unequal
    subscriptions single partitions move until no move evens out the sizes further.
    """

    def assign(self, group: ConsumerGroupState) -> PartitionAssignment:
        """Place the partitions.

        Raises:
            NoMembersError: if there are no members.
            NoUnfilledMemberError: if a claim on a partition that does not exist leaves partitions over.
            LostOwnerError: if a partition's former owner is outside the part of the group that is balanced.
        """
        return sticky_answer(group, sticky_report, is_cooperative=False)

    def traced(self, group: ConsumerGroupState) -> Traced[PartitionAssignment]:
        return traced_keeping(
            group,
            self.assign(group),
            {member: dict(sticky_report(held).owned) for member, held in group.members.items()},
        )
