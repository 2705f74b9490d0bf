"""Changes of the configuration that set off a rebalance, and those that a worker follows by itself.

Kafka: ``DistributedHerder.tick``.

A connector that comes or goes, and new configurations of tasks, need a rebalance. Another configuration of a connector
restarts its instance, another target state moves what is here of it.
"""

from __future__ import annotations

import attrs

from assignment_api.connect import ConnectProtocol

__all__ = ["ConfigActions", "ConfigChanges"]


@attrs.frozen
class ConfigActions:
    """What a worker does about changes, in this order.

    Args:
        rejoin: It joins again, once it has done the rest.
        restart_connectors: Connectors that have another configuration: their instances stop, and start again if the
            connector is still there.
        target_states: Connectors that have another target state.
        stop_tasks_of: Connectors that have new configurations of tasks: what runs of them stops here.
    """

    rejoin: bool
    restart_connectors: tuple[str, ...] = ()
    target_states: tuple[str, ...] = ()
    stop_tasks_of: tuple[str, ...] = ()


@attrs.define
class ConfigChanges:
    """What was read in the config log and not yet acted on."""

    needs_rebalance: bool = False
    _configured: dict[str, None] = attrs.field(factory=dict, init=False)
    _target_states: dict[str, None] = attrs.field(factory=dict, init=False)
    _tasks: dict[str, None] = attrs.field(factory=dict, init=False)

    def __bool__(self) -> bool:
        """Whether there is anything to act on."""
        return bool(self.needs_rebalance or self._configured or self._target_states or self._tasks)

    # --- what was read ----------------------------------------------------------------------------------

    def connector_configured(self, connector: str, *, is_known: bool) -> None:
        """A connector's configuration was written; ``is_known``: the herder has acted on an earlier one."""
        if is_known:
            self._configured[connector] = None
        else:
            self.needs_rebalance = True

    def connector_removed(self) -> None:
        """A connector was removed."""
        self.needs_rebalance = True

    def tasks_configured(self, connector: str, *, any_changed: bool = True) -> None:
        """Configurations of a connector's tasks were put into force; ``any_changed``: at least one was written."""
        self.needs_rebalance = True
        if any_changed:
            self._tasks[connector] = None

    def target_state_changed(self, connector: str) -> None:
        """A connector has another target state."""
        self._target_states[connector] = None

    # --- acting on it -----------------------------------------------------------------------------------

    def take(self, protocol: ConnectProtocol | None) -> ConfigActions:
        """What a worker does about all of it; nothing is left.

        Args:
            protocol: What its group speaks.
        """
        eager = protocol is ConnectProtocol.EAGER
        if eager and self.needs_rebalance:
            # Everything stops before the rebalance, and starts as it is configured then.
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
