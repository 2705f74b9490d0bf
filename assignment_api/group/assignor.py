"""The interface that a broker-side assignor implements."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from assignment_api.group.assignment import GroupAssignment
from assignment_api.group.spec import GroupSpec
from assignment_api.group.topology import TopologyDescriber

__all__ = ["TaskAssignor"]


class TaskAssignor(abc.ABC):
    """Decides which member of a Streams group gets which task (KIP-1071, KIP-1357).

    The coordinator calls it when the group's epoch has moved on. The answer depends on the arguments alone: no clock,
    no randomness, nothing kept from one call to the next, so that one object may serve several groups and threads.
    Everything that it is given is immutable and in a fixed order; the answer becomes the caller's.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:  # noqa: B027 - optional
        """Takes the effective configuration, before ``assign``; by default nothing is read.

        Args:
            configs: All effective keys, Kafka's and the plugin's own, with the values as they were written; read-only.

        Raises:
            ConfigError: if a value cannot be used.
        """

    @abc.abstractmethod
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Places every task of ``topology`` on the members of ``group``.

        Returns:
            A target for each member. Each task is active exactly once; no process holds a task twice.

        Raises:
            GroupAssignorError: if that is not possible; the group then keeps its old target.
        """
