"""``consumer_cooperative_sticky``: Kafka's ``CooperativeStickyAssignor`` behind the SPI for consumer groups."""

from __future__ import annotations

from assignment_api.consumer import ConsumerGroupState, ConsumerPartitionAssignor, PartitionAssignment
from assignment_api.tracing import Traced
from builtin_assignors._consumer_sticky_steps import cooperative_report, sticky_answer
from builtin_assignors._partition_rules import traced_keeping

__all__ = ["CooperativeStickyAssignor"]


class CooperativeStickyAssignor(ConsumerPartitionAssignor):
    """``org.apache.kafka.clients.consumer.CooperativeStickyAssignor`` (KIP-429), with identical answers.

    Places as ``consumer_sticky``, by the owned partitions of the subscription. A partition that changes its owner is in
    no list of the answer: its owner gives it up, and the next rebalance places it.
    """

    def assign(self, group: ConsumerGroupState) -> PartitionAssignment:
        """Place the partitions; raises as ``consumer_sticky``."""
        return sticky_answer(group, cooperative_report, is_cooperative=True)

    def traced(self, group: ConsumerGroupState) -> Traced[PartitionAssignment]:
        return traced_keeping(
            group,
            self.assign(group),
            {member: dict(cooperative_report(held).owned) for member, held in group.members.items()},
            is_cooperative=True,
        )
