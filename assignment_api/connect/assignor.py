"""The interface that an assignor for Kafka Connect implements."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from assignment_api.connect.assignment import ConnectAssignment
from assignment_api.connect.rebalance import Rebalance

__all__ = ["MAX_DELAY_KEY", "ConnectAssignor"]

#: Kafka's key: how long lost jobs wait for their worker at most, in milliseconds.
MAX_DELAY_KEY = "scheduled.rebalance.max.delay.ms"


class ConnectAssignor(abc.ABC):
    """Decides which worker of a Connect group runs which connector instance and which task.

    Kafka: ``ConnectAssignor``, behind ``WorkerCoordinator``. A worker has one object for as long as its process lives
    and asks it whenever it leads a rebalance, so an assignor may keep what it needs from round to round. It must not
    rely on having been asked in every round: other workers lead, too, and an answer may get lost on its way (see
    ``Rebalance.last_completed_generation``).

    The answers of an object depend on its configuration and on the rebalances that it was given, in their order, and
    on nothing else: no clock (ask ``Rebalance.time_ms``), no randomness, nothing shared between objects. What it is
    given is immutable; the answer becomes the caller's.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:  # noqa: B027 - optional
        """Takes the leading worker's configuration, once, before the first ``assign``; by default nothing is read.

        Args:
            configs: All effective keys, Kafka's and the plugin's own, with the values as they were written; read-only.

        Raises:
            ConfigError: if a value cannot be used.
        """

    @abc.abstractmethod
    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        """Places the jobs of a group.

        A rebalance that fails leaves what the object has kept as it was.

        Returns:
            An entry for each worker. Nothing that a worker owns is assigned to it again, no job is assigned to two
            workers, and a job that another worker owns is not assigned before that one has stopped it.

        Raises:
            ConnectAssignorError: if that is not possible; the rebalance fails.
            UnsupportedConnectProtocolError: if the members' protocol is not one that it can lead.
        """
