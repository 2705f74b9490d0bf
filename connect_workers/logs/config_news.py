"""New records of the config log that a herder has not acted on (Kafka: ``DistributedHerder.tick``)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from assignment_api.connect import ConnectorTaskId
from assignor_lab.kafka.herder.config_log.changes import ConfigChanges
from assignor_lab.kafka.herder.config_log.reader import ConfigSnapshot
from assignor_lab.kafka.herder.restarts import PendingRestarts, RestartRequest
from assignor_lab.kafka.herder.session_keys import SessionKey
from connect_workers.contract import HerderError
from connect_workers.logger_levels import LoggerLevels

__all__ = ["ConfigNews"]


class ConfigNews:
    """The listener of a distributed worker."""

    def __init__(self, acted_on: Callable[[], ConfigSnapshot], levels: LoggerLevels, wake: Callable[[], None]) -> None:
        self._acted_on, self._levels, self._wake = acted_on, levels, wake
        self.changes = ConfigChanges()
        self.restarts = PendingRestarts()

    # --- ConfigListener -------------------------------------------------------------------------------

    def on_connector_config(self, connector: str) -> None:
        """Another configuration restarts the connector, another connector is a rebalance."""
        self.changes.connector_configured(connector, is_known=connector in self._acted_on().connectors)
        self._wake()

    def on_connector_removed(self, connector: str) -> None:
        """A rebalance."""
        del connector
        self.changes.connector_removed()
        self._wake()

    def on_task_configs(self, connector: str, tasks: Sequence[ConnectorTaskId]) -> None:
        """A rebalance, before which the connector's tasks stop if any of them has another configuration."""
        self.changes.tasks_configured(connector, any_changed=bool(tasks))
        self._wake()

    def on_target_state(self, connector: str) -> None:
        self.changes.target_state_changed(connector)
        self._wake()

    def on_restart_request(self, request: RestartRequest) -> None:
        """It waits for the next tick."""
        self.restarts.add(request)
        self._wake()

    def on_session_key(self, key: SessionKey) -> None:
        del key
        self._wake()

    def on_logger_level(self, namespace: str, level: str) -> None:
        with contextlib.suppress(HerderError):
            self._levels.set(namespace, level)
