"""The interface of broker-side assignors."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from assignment_api.group.assignment import GroupAssignment
from assignment_api.group.spec import GroupSpec
from assignment_api.group.topology import TopologyDescriber

__all__ = ["TaskAssignor"]


class TaskAssignor(abc.ABC):
    """Places the tasks of a Streams group on members (KIP-1071, KIP-1357).

    The coordinator calls it after a new group epoch. Answers depend only on the arguments: no clock, no randomness, no
    state. So one object may serve several groups and threads. The input is immutable and ordered; the caller owns the
    answer.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:  # noqa: B027 - optional
        """Take the configuration, before ``assign``.

        Args:
            configs: All effective keys, Kafka's and the plugin's own, as written; read-only.

        Raises:
            ConfigError: if a value is invalid.
        """

    @abc.abstractmethod
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Place every task of ``topology``.

        Returns:
            A target for each member; each task is active once, and no process holds it twice.

        Raises:
            GroupAssignorError: if that is impossible; the group keeps its old target.
        """
