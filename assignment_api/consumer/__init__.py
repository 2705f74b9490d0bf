"""The SPI of assignors for plain consumer groups and share groups; import the module, or names from it.

Client side (KIP-429, KIP-881): the group's leader calls a ``ConsumerPartitionAssignor``. Broker side (KIP-848,
KIP-932): the group coordinator calls a ``ConsumerGroupPartitionAssignor`` or a ``ShareGroupPartitionAssignor``.
"""

from typing import TYPE_CHECKING

from assignment_api.exports import exported

if TYPE_CHECKING:
    from assignment_api.consumer.assignment import NO_PARTITIONS, PartitionAssignment, PartitionsByTopic
    from assignment_api.consumer.assignors import (
        ConsumerGroupPartitionAssignor,
        ConsumerPartitionAssignor,
        ShareGroupPartitionAssignor,
    )
    from assignment_api.consumer.errors import (
        EmptyConsumerGroupError,
        LostOwnerError,
        NoMembersError,
        NoUnfilledMemberError,
        PartitionAssignorError,
        PartitionOutOfRangeError,
        UnfilledMembersExhaustedError,
    )
    from assignment_api.consumer.group_state import ConsumerGroupState, ConsumerSubscription, ConsumerTopic
    from assignment_api.consumer.subscribed_group import (
        SubscribedGroup,
        SubscribedMember,
        SubscribedTopic,
        topic_id_halves,
    )

__all__ = [
    "NO_PARTITIONS",
    "ConsumerGroupPartitionAssignor",
    "ConsumerGroupState",
    "ConsumerPartitionAssignor",
    "ConsumerSubscription",
    "ConsumerTopic",
    "EmptyConsumerGroupError",
    "LostOwnerError",
    "NoMembersError",
    "NoUnfilledMemberError",
    "PartitionAssignment",
    "PartitionAssignorError",
    "PartitionOutOfRangeError",
    "PartitionsByTopic",
    "ShareGroupPartitionAssignor",
    "SubscribedGroup",
    "SubscribedMember",
    "SubscribedTopic",
    "UnfilledMembersExhaustedError",
    "topic_id_halves",
]

if not TYPE_CHECKING:
    __getattr__ = exported(__name__, __all__, "errors assignors assignment group_state subscribed_group")
