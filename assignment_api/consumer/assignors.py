"""The interfaces of assignors for consumer groups and share groups."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from assignment_api.consumer.assignment import PartitionAssignment
from assignment_api.consumer.group_state import ConsumerGroupState
from assignment_api.consumer.subscribed_group import SubscribedGroup

__all__ = ["ConsumerGroupPartitionAssignor", "ConsumerPartitionAssignor", "ShareGroupPartitionAssignor"]


class ConsumerPartitionAssignor(abc.ABC):
    """Places the partitions of the subscribed topics on the members of a consumer group.

    Kafka: ``ConsumerPartitionAssignor`` (KIP-429), called by the group's leader. Answers depend only on the argument:
    no clock, no randomness, no state. So one object may serve several groups and threads. The input is immutable and
    ordered; the caller owns the answer.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:  # noqa: B027 - optional
        """Take the configuration, before ``assign``.

        Args:
            configs: All effective keys, Kafka's and the plugin's own, as written; read-only.

        Raises:
            ConfigError: if a value is invalid.
        """

    @abc.abstractmethod
    def assign(self, group: ConsumerGroupState) -> PartitionAssignment:
        """Place every known partition that has a subscriber.

        Returns:
            Partitions by member and topic name. A cooperative assignor leaves out partitions that another member must
            revoke first.

        Raises:
            PartitionAssignorError: if that is impossible; the rebalance fails.
        """


class ConsumerGroupPartitionAssignor(abc.ABC):
    """Places partitions in the coordinator, for consumer groups of KIP-848.

    Kafka: ``ConsumerGroupPartitionAssignor``. Called after a new group epoch; otherwise as
    :class:`ConsumerPartitionAssignor`.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:  # noqa: B027 - optional
        """As :meth:`ConsumerPartitionAssignor.configure`."""

    @abc.abstractmethod
    def assign(self, group: SubscribedGroup) -> PartitionAssignment:
        """Place every partition of every subscribed topic.

        Returns:
            The target: partitions by member and topic id; each partition has one member.

        Raises:
            PartitionAssignorError: if that is impossible; the group keeps its old target.
        """


class ShareGroupPartitionAssignor(abc.ABC):
    """Places partitions in the coordinator, for share groups (KIP-932). Kafka: ``ShareGroupPartitionAssignor``."""

    def configure(self, configs: Mapping[str, Any]) -> None:  # noqa: B027 - optional
        """As :meth:`ConsumerPartitionAssignor.configure`."""

    @abc.abstractmethod
    def assign(self, group: SubscribedGroup) -> PartitionAssignment:
        """Place every assignable partition of every subscribed topic.

        Returns:
            The target: partitions by member and topic id; a partition may have several members.

        Raises:
            PartitionAssignorError: if that is impossible; the group keeps its old target.
        """
