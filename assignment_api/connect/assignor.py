"""The interface of assignors for Kafka Connect."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from assignment_api.connect.assignment import ConnectAssignment
from assignment_api.connect.rebalance import Rebalance

__all__ = ["MAX_DELAY_KEY", "ConnectAssignor"]

#: Kafka's key: longest wait of lost jobs for their worker, ms.
MAX_DELAY_KEY = "scheduled.rebalance.max.delay.ms"


class ConnectAssignor(abc.ABC):
    """Places connector instances and tasks on the workers of a Connect group.

    Kafka: ``ConnectAssignor``, behind ``WorkerCoordinator``. A worker's process has one object and calls it whenever it
    leads. So it may keep state, but may miss rounds: other workers lead, too, and answers get lost
    (``Rebalance.last_completed_generation``).

    Answers depend only on the configuration and the sequence of rebalances: no clock (use ``Rebalance.time_ms``), no
    randomness, nothing shared. The input is immutable; the caller owns the answer.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:  # noqa: B027 - optional
        """Take the leading worker's configuration, once, before ``assign``.

        Args:
            configs: All effective keys, Kafka's and the plugin's own, as written; read-only.

        Raises:
            ConfigError: if a value is invalid.
        """

    @abc.abstractmethod
    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        """Place the jobs of a group; a failure leaves the object's state unchanged.

        Returns:
            An entry for each worker. No job has two workers, its owner never gets it again, and another worker only
            after the owner has stopped it.

        Raises:
            ConnectAssignorError: if that is impossible; the rebalance fails.
            UnsupportedConnectProtocolError: if it cannot lead under the members' protocol.
        """
