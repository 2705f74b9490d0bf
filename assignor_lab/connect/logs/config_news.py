"""What a herder has read in the config log and has yet to act on (reference 6.3)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from assignment_api.connect import ConnectorTaskId
from assignor_lab.connect.herders.herder import HerderError, RestartRequest
from assignor_lab.connect.herders.restarts import PendingRestarts
from assignor_lab.connect.logger_levels import LoggerLevels
from assignor_lab.connect.logs.config_records import ConfigSnapshot, SessionKey

__all__ = ["ConfigNews"]


class ConfigNews:
    """The listener of a distributed worker.

    Args:
        acted_on: The snapshot that the herder works by: what is not in it is new.
        levels: Levels of the worker's loggers.
        wake: Wakes the herder.
    """

    def __init__(self, acted_on: Callable[[], ConfigSnapshot], levels: LoggerLevels, wake: Callable[[], None]) -> None:
        self._acted_on, self._levels, self._wake = acted_on, levels, wake
        self.needs_rebalance = False
        self.restarts = PendingRestarts()
        self._changed: dict[str, None] = {}
        self._targets: dict[str, None] = {}
        self._retasked: dict[ConnectorTaskId, None] = {}

    # --- what the herder asks -------------------------------------------------------------------------

    def __bool__(self) -> bool:
        """Whether there is anything to act on, restarts aside."""
        return bool(self.needs_rebalance or self._changed or self._targets or self._retasked)

    def take_rebalance(self) -> bool:
        """Whether a rebalance is needed; it is taken care of now."""
        needed, self.needs_rebalance = self.needs_rebalance, False
        return needed

    def take_changed(self) -> list[str]:
        """Connectors that have another configuration."""
        taken, self._changed = list(self._changed), {}
        return taken

    def take_targets(self) -> list[str]:
        """Connectors that have another target state."""
        taken, self._targets = list(self._targets), {}
        return taken

    def take_retasked(self) -> list[ConnectorTaskId]:
        """Tasks that have other configurations."""
        taken, self._retasked = list(self._retasked), {}
        return taken

    # --- ConfigListener -------------------------------------------------------------------------------

    def on_connector_config(self, connector: str) -> None:
        """Another configuration is a bounce, another connector a rebalance."""
        if connector in self._acted_on().connectors:
            self._changed[connector] = None
        else:
            self.needs_rebalance = True
        self._wake()

    def on_connector_removed(self, connector: str) -> None:
        """A rebalance."""
        self._changed.pop(connector, None)
        self.needs_rebalance = True
        self._wake()

    def on_task_configs(self, connector: str, tasks: Sequence[ConnectorTaskId]) -> None:
        """A rebalance, before which these tasks stop."""
        del connector
        self.needs_rebalance = True
        self._retasked.update(dict.fromkeys(tasks))
        self._wake()

    def on_target_state(self, connector: str) -> None:
        """What is here of the connector follows."""
        self._targets[connector] = None
        self._wake()

    def on_restart_request(self, request: RestartRequest) -> None:
        """It waits for the next tick."""
        self.restarts.add(request)
        self._wake()

    def on_session_key(self, key: SessionKey) -> None:
        """Signatures are checked with it from now on."""
        del key
        self._wake()

    def on_logger_level(self, namespace: str, level: str) -> None:
        """This worker follows."""
        with contextlib.suppress(HerderError):
            self._levels.set(namespace, level)
