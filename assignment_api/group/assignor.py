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
    """Decides which member of a Streams group runs which task (KIP-1071, KIP-1357).

    The coordinator calls it after the group's epoch has changed. The answer depends only on the arguments: no clock, no
    randomness, no state between calls. So one object may serve several groups and threads. The input is immutable and
    in a fixed order; the caller owns the answer.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:  # noqa: B027 - optional
        """Take the effective configuration, before ``assign``; the default does nothing.

        Args:
            configs: All effective keys, Kafka's and the plugin's own, with the values as written; read-only.

        Raises:
            ConfigError: if a value is invalid.
        """

    @abc.abstractmethod
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Place every task of ``topology`` on the members of ``group``.

        Returns:
            A target for each member. Each task is active exactly once; no process holds a task twice.

        Raises:
            GroupAssignorError: if that is impossible; the group then keeps its old target.
        """
