"""The interface that a plugin implements, and what its callback gets to see."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.assignment import AssignmentError, TaskAssignment

__all__ = [
    "GroupAssignment",
    "GroupSubscription",
    "MemberAssignment",
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
    """What one consumer sent to the group's leader (Kafka: ``ConsumerPartitionAssignor.Subscription``).

    Args:
        owned_partitions: Partitions it owned, in the order of the input.
        user_data: Encoded ``SubscriptionInfo``, or ``None`` where the state does not come from the wire.
        rack_id: ``client.rack``, or ``None``.
    """

    owned_partitions: tuple[TopicPartition, ...] = ()
    user_data: bytes | None = None
    rack_id: str | None = None


@attrs.frozen
class MemberAssignment:
    """What one consumer is sent back (Kafka: ``ConsumerPartitionAssignor.Assignment``).

    Args:
        partitions: Its partitions, sorted by topic and number; empty where a task's partitions are unknown.
        user_data: Encoded ``AssignmentInfo``, or ``None`` where nothing is encoded.
    """

    partitions: tuple[TopicPartition, ...] = ()
    user_data: bytes | None = None


@attrs.frozen
class GroupSubscription:
    """Consumer id to what it sent, sorted by consumer id."""

    members: Mapping[str, MemberSubscription] = attrs.field(factory=dict)


@attrs.frozen
class GroupAssignment:
    """Consumer id to what it is sent, sorted by consumer id; empty where the answer could not be used at all."""

    members: Mapping[str, MemberAssignment] = attrs.field(factory=dict)


class TaskAssignor(abc.ABC):
    """Decides which client runs which task (KIP-924 ``TaskAssignor``).

    One object is made for each rebalance. Its answer must depend on its arguments alone: no clock (ask
    ``current_time_ms()``), no randomness without a configured seed, no state kept between objects. Everything it is
    given is immutable and in a fixed order; the answer becomes the caller's.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:  # noqa: B027 - optional by the KIP
        """Takes the application's configuration, before ``assign``; by default nothing is read.

        Args:
            configs: All effective keys, Kafka's and the plugin's own, with the values as they were written
                (a text from a ``.properties`` file, a number or list from TOML); read-only.

        Raises:
            ConfigError: if a value cannot be used.
        """

    @abc.abstractmethod
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Places every task of ``application``.

        Returns:
            One assignment for each client. Each task is active exactly once; a standby never shares a process with
            its active task.

        Raises:
            TaskAssignmentError: to keep the old assignment and rebalance again.
        """

    def on_assignment_computed(  # noqa: B027 - optional by the KIP
        self, assignment: GroupAssignment, subscription: GroupSubscription, error: AssignmentError
    ) -> None:
        """Observes the final assignment; by default nothing is done.

        Args:
            assignment: What each consumer is sent; empty after ``UNKNOWN_PROCESS_ID`` and ``UNKNOWN_TASK_ID``.
            subscription: What each consumer had sent.
            error: What validation found; anything but ``NONE`` fails the rebalance after this call.
        """
