"""The interface that an assignor for Kafka Connect implements."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from assignment_api.connect.assignment import ConnectAssignment
from assignment_api.connect.rebalance import Rebalance

__all__ = ["MAX_DELAY_KEY", "ConnectAssignor"]

#: Kafka's key: longest wait of lost jobs for their worker, in ms.
MAX_DELAY_KEY = "scheduled.rebalance.max.delay.ms"


class ConnectAssignor(abc.ABC):
    """Decides which worker of a Connect group runs which connector instance and which task.

    Kafka: ``ConnectAssignor``, behind ``WorkerCoordinator``. A worker has one object for the lifetime of its process
    and calls it whenever it leads a rebalance. So an assignor may keep state from round to round. It must not rely on
    having seen every round: other workers lead, too, and an answer may not arrive (see
    ``Rebalance.last_completed_generation``).

    The answers of an object depend only on its configuration and on its rebalances, in their order. It uses no clock
    (``Rebalance.time_ms`` has the time), no randomness, and nothing shared between objects. The input is immutable; the
    caller owns the answer.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:  # noqa: B027 - optional
        """Take the leading worker's configuration, once, before the first ``assign``; the default does nothing.

        Args:
            configs: All effective keys, Kafka's and the plugin's own, with the values as written; read-only.

        Raises:
            ConfigError: if a value is invalid.
        """

    @abc.abstractmethod
    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        """Place the jobs of a group.

        A failed rebalance leaves the state of the object unchanged.

        Returns:
            An entry for each worker. No job that a worker owns is assigned to it again. No job is assigned to two
            workers. A job of another worker is not assigned before that worker has stopped it.

        Raises:
            ConnectAssignorError: if that is impossible; the rebalance fails.
            UnsupportedConnectProtocolError: if it cannot lead under the members' protocol.
        """
