"""Configuration changes that cause a rebalance, and changes that a worker applies by itself.

Kafka: ``DistributedHerder.tick``.

A new or removed connector, and new configurations of tasks, need a rebalance. Another configuration of a connector
restarts its instance. Another target state affects its jobs on this worker.
"""

from __future__ import annotations

import attrs

from assignment_api.connect import ConnectProtocol

__all__ = ["ConfigActions", "ConfigChanges"]


@attrs.frozen
class ConfigActions:
    """A worker's actions after changes, in this order.

    Args:
        rejoin: It rejoins, after all other actions.
        restart_connectors: Connectors with another configuration: their instances stop, and start again if the
            connector still exists.
        stop_tasks_of: Connectors with new configurations of tasks: their tasks on this worker stop.
    """

    rejoin: bool
    restart_connectors: tuple[str, ...] = ()
    target_states: tuple[str, ...] = ()
    stop_tasks_of: tuple[str, ...] = ()


@attrs.define
class ConfigChanges:
    """Changes read from the config log and not yet applied."""

    needs_rebalance: bool = False
    _configured: dict[str, None] = attrs.field(factory=dict, init=False)
    _target_states: dict[str, None] = attrs.field(factory=dict, init=False)
    _tasks: dict[str, None] = attrs.field(factory=dict, init=False)

    def __bool__(self) -> bool:
        return bool(self.needs_rebalance or self._configured or self._target_states or self._tasks)

    # --- reading ----------------------------------------------------------------------------------------

    def connector_configured(self, connector: str, *, is_known: bool) -> None:
        """Record a connector's configuration; ``is_known``: the herder has applied an earlier one."""
        if is_known:
            self._configured[connector] = None
        else:
            self.needs_rebalance = True

    def connector_removed(self) -> None:
        self.needs_rebalance = True

    def tasks_configured(self, connector: str, *, any_changed: bool = True) -> None:
        """Record a commit of a connector's task configurations; ``any_changed``: at least one was written."""
        self.needs_rebalance = True
        if any_changed:
            self._tasks[connector] = None

    def target_state_changed(self, connector: str) -> None:
        self._target_states[connector] = None

    # --- applying ---------------------------------------------------------------------------------------

    def take(self, protocol: ConnectProtocol | None) -> ConfigActions:
        """The actions for all recorded changes, which are removed."""
        eager = protocol is ConnectProtocol.EAGER
        if eager and self.needs_rebalance:
            # All jobs stop before the rebalance, and then start with their new configuration.
            actions = ConfigActions(rejoin=True)
        else:
            actions = ConfigActions(
                self.needs_rebalance, tuple(self._configured), tuple(self._target_states),
                () if eager else tuple(self._tasks),
            )  # fmt: skip
        self.needs_rebalance = False
        for read in (self._configured, self._target_states, self._tasks):
            read.clear()
        return actions
