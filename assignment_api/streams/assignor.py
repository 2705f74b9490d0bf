"""The interface of task assignors."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assignment_api.streams.application import ApplicationMetadata
    from assignment_api.streams.assignment import AssignmentError, TaskAssignment

__all__ = [
    "ConsumerAssignments",
    "GroupSubscription",
    "ConsumerAssignment",
    "MemberSubscription",
    "TaskAssignor",
    "TopicPartition",
]


@attrs.frozen(order=True)
class TopicPartition:
    """Ordered by topic and number."""

    topic: str
    partition: int


@attrs.frozen
class MemberSubscription:
    """A consumer's message to the leader (Kafka: ``ConsumerPartitionAssignor.Subscription``).

    Args:
        owned_partitions: In the order of the input.
        user_data: Encoded ``SubscriptionInfo``, or ``None`` if not from the wire.
        rack_id: ``client.rack``, or ``None``.
    """

    owned_partitions: tuple[TopicPartition, ...] = ()
    user_data: bytes | None = None
    rack_id: str | None = None


@attrs.frozen
class ConsumerAssignment:
    """The reply to a consumer (Kafka: ``ConsumerPartitionAssignor.Assignment``).

    Args:
        partitions: By topic and number; empty if unknown.
        user_data: Encoded ``AssignmentInfo``, or ``None``.
    """

    partitions: tuple[TopicPartition, ...] = ()
    user_data: bytes | None = None


@attrs.frozen
class GroupSubscription:
    """Message of each consumer, by id."""

    members: Mapping[str, MemberSubscription] = attrs.field(factory=dict)


@attrs.frozen
class ConsumerAssignments:
    """Reply to each consumer, by id; empty if the answer was unusable."""

    members: Mapping[str, ConsumerAssignment] = attrs.field(factory=dict)


class TaskAssignor(abc.ABC):
    """Decides which client runs which task (KIP-924 ``TaskAssignor``).

    One object per rebalance. Answers depend on arguments alone: no clock (use ``current_time_ms()``), no unseeded
    randomness, no shared state. The input is immutable and ordered; the caller owns the answer.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:  # noqa: B027 - optional by the KIP
        """Take the configuration, before ``assign``.

        Args:
            configs: All effective keys, Kafka's and the plugin's own, as written (text from ``.properties``, number or
                list from TOML); read-only.

        Raises:
            ConfigError: if a value is invalid.
        """

    @abc.abstractmethod
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Place every task of ``application``.

        Returns:
            One assignment per client. Each task is active once; its standbys are on other processes.

        Raises:
            TaskAssignmentError: to keep the old assignment and rebalance again.
        """

    def on_assignment_computed(  # noqa: B027 - optional by the KIP
        self, assignment: ConsumerAssignments, subscription: GroupSubscription, error: AssignmentError
    ) -> None:
        """Observe the final assignment.

        Args:
            assignment: Empty after ``UNKNOWN_PROCESS_ID`` and ``UNKNOWN_TASK_ID``.
            error: All but ``NONE`` fail the rebalance after this call.
        """
