"""Failures of assignors for consumer groups and share groups, each with Kafka's exception."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError

__all__ = [
    "EmptyConsumerGroupError",
    "LostOwnerError",
    "NoMembersError",
    "NoUnfilledMemberError",
    "PartitionAssignorError",
    "PartitionOutOfRangeError",
    "UnfilledMembersExhaustedError",
]


class PartitionAssignorError(AssignorLabError):
    """An assignor cannot place the partitions. Broker side the group keeps its old target.

    Kafka: ``PartitionAssignorException``; the heartbeat response has ``UNKNOWN_SERVER_ERROR``.
    """

    java_type = "org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException"


class EmptyConsumerGroupError(AssignorLabError):
    """Round robin has no member to begin with. Kafka: ``CircularIterator``."""

    java_type = "java.lang.IllegalArgumentException"


class NoMembersError(AssignorLabError):
    """The sticky assignors divide the partitions by zero members. Kafka: ``AbstractStickyAssignor``."""

    java_type = "java.lang.ArithmeticException"


class NoUnfilledMemberError(AssignorLabError):
    """The sticky assignors have a partition left and no member with room. Kafka: ``AbstractStickyAssignor``.

    A former owner claims a partition that no longer exists.
    """

    java_type = "java.lang.IllegalStateException"


class LostOwnerError(AssignorLabError):
    """A lookup of Kafka found nothing where a member or an owner was expected: a partition has no owner.

    Kafka: ``NullPointerException`` of ``AbstractStickyAssignor``.
    """

    java_type = "java.lang.NullPointerException"


class PartitionOutOfRangeError(AssignorLabError):
    """A previous target has a partition that the topic lacks. Kafka: uniform, heterogeneous subscriptions."""

    java_type = "java.lang.ArrayIndexOutOfBoundsException"


class UnfilledMembersExhaustedError(AssignorLabError):
    """The simple assignor looks for a member with room, and has none. Kafka: ``SimpleAssignor``."""

    java_type = "java.util.NoSuchElementException"
