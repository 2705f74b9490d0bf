"""The configuration of a simulated worker."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.connect import WILDCARD, ConnectProtocol, StaticJobs
from assignor_lab.kafka.herder.assignment import DowngradeRule
from assignor_lab.model.connect_episodes import ConnectDetails

__all__ = ["WorkerSettings"]


@attrs.frozen
class WorkerSettings:
    """A worker's configuration.

    Args:
        downgrade: Return of the group to ``eager``: ``kafka`` (nothing is stopped, KAFKA-13816) or ``kip415`` (an empty
            assignment and a second rebalance).
        configs: Further keys for the assignors.
        url: Its advertised URL; empty: its name stands for host and port.
        labels: Labels for an assignor, such as a zone.
    """

    protocol: ConnectProtocol = ConnectProtocol.SESSIONED
    max_delay_ms: int = 300_000
    static: StaticJobs = WILDCARD
    downgrade: DowngradeRule = "kafka"
    configs: Mapping[str, object] = attrs.field(factory=dict)
    url: str = ""
    labels: Mapping[str, str] = attrs.field(factory=dict)

    def started(self, details: ConnectDetails) -> WorkerSettings:
        """Those of a start with changes."""
        return attrs.evolve(
            self,
            protocol=details.protocol or self.protocol,
            max_delay_ms=self.max_delay_ms if details.max_delay_ms is None else details.max_delay_ms,
            static=details.static or self.static,
        )
