"""The interface that a plugin implements, and the values of its callback."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

import attrs

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
    """A partition of a topic, ordered by topic and number."""

    topic: str
    partition: int


@attrs.frozen
class MemberSubscription:
    """One consumer's message to the group's leader (Kafka: ``ConsumerPartitionAssignor.Subscription``).

    Args:
        owned_partitions: Partitions it owned, in the order of the input.
        user_data: Encoded ``SubscriptionInfo``, or ``None`` if the state does not come from the wire.
        rack_id: ``client.rack``, or ``None``.
    """

    owned_partitions: tuple[TopicPartition, ...] = ()
    user_data: bytes | None = None
    rack_id: str | None = None


@attrs.frozen
class ConsumerAssignment:
    """The reply to one consumer (Kafka: ``ConsumerPartitionAssignor.Assignment``).

    Args:
        partitions: Its partitions, sorted by topic and number; empty if a task's partitions are unknown.
        user_data: Encoded ``AssignmentInfo``, or ``None`` without encoding.
    """

    partitions: tuple[TopicPartition, ...] = ()
    user_data: bytes | None = None


@attrs.frozen
class GroupSubscription:
    """Consumer id to its message, sorted by consumer id."""

    members: Mapping[str, MemberSubscription] = attrs.field(factory=dict)


@attrs.frozen
class ConsumerAssignments:
    """Consumer id to the reply, sorted by consumer id; empty if the whole answer was unusable."""

    members: Mapping[str, ConsumerAssignment] = attrs.field(factory=dict)


class TaskAssignor(abc.ABC):
    """Decides which client runs which task (KIP-924 ``TaskAssignor``).

    Each rebalance creates one object. Its answer must depend on its arguments alone: no clock (``current_time_ms()``
    has the time), no randomness without a configured seed, no state shared between objects. The input is immutable and
    in a fixed order; the caller owns the answer.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:  # noqa: B027 - optional by the KIP
        """Take the application's configuration, before ``assign``; the default does nothing.

        Args:
            configs: All effective keys, Kafka's and the plugin's own, with the values as written
                (a text from a ``.properties`` file, a number or list from TOML); read-only.

        Raises:
            ConfigError: if a value is invalid.
        """

    @abc.abstractmethod
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Place every task of ``application``.

        Returns:
            One assignment for each client. Each task is active exactly once; a standby never shares a process with
            its active task.

        Raises:
            TaskAssignmentError: to keep the old assignment and rebalance again.
        """

    def on_assignment_computed(  # noqa: B027 - optional by the KIP
        self, assignment: ConsumerAssignments, subscription: GroupSubscription, error: AssignmentError
    ) -> None:
        """Observe the final assignment; the default does nothing.

        Args:
            assignment: The reply to each consumer; empty after ``UNKNOWN_PROCESS_ID`` and ``UNKNOWN_TASK_ID``.
            subscription: The message of each consumer.
            error: Result of validation; any value except ``NONE`` fails the rebalance after this call.
        """
