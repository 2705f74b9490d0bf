"""The assignors that workers lead with."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

from assignment_api.connect import ConnectProtocol, Rebalance
from assignment_api.plugins import FoundConnectAssignor, Registry
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION
from assignor_lab.groups.connect.assignor_calls import ASKING, ConnectOutcome
from assignor_lab.kafka.herder.assignors import assignor_configs, assignor_names
from assignor_lab.runtime.assignor_calls import assignor_for
from connect_workers.settings import LiveWorkerSettings

__all__ = ["WorkerAssignor", "WorkerAssignors"]


class WorkerAssignor:
    """An assignor of one worker, called outside the event loop."""

    #: The output of a running plugin is redirected. Two at a time would not restore it.
    _ONE_AT_A_TIME = threading.Lock()

    def __init__(self, found: FoundConnectAssignor, configs: Mapping[str, Any]) -> None:
        self._leading = assignor_for(ASKING, found, configs)
        self._trusted = found.distribution == BUILTIN_DISTRIBUTION

    async def assign(self, rebalance: Rebalance) -> ConnectOutcome:
        """Returns the assignor's outcome for a group, errors included."""
        if self._trusted:
            return self._assign(rebalance)
        return await asyncio.to_thread(self._assign, rebalance)

    def _assign(self, rebalance: Rebalance) -> ConnectOutcome:
        if self._trusted:
            return self._leading.ask(rebalance)
        with self._ONE_AT_A_TIME:
            return self._leading.ask(rebalance)


class WorkerAssignors:
    """The assignors that workers lead with, found once through the registry.

    Raises:
        UnknownPluginError, PluginLoadError: if one cannot be had.
    """

    def __init__(self, registry: Registry, selector: str | None = None) -> None:
        self._found: Mapping[ConnectProtocol, FoundConnectAssignor] = {
            protocol: registry.connect_assignor(name) for protocol, name in assignor_names(selector).items()
        }

    def for_worker(self, settings: LiveWorkerSettings) -> Mapping[ConnectProtocol, WorkerAssignor]:
        configs = assignor_configs(settings.max_delay_ms, settings.downgrade, settings.configs)
        made: dict[str, WorkerAssignor] = {}
        # compatible and sessioned are one assignor in Kafka: its memory survives the change between them.
        return {
            protocol: made.setdefault(found.name, WorkerAssignor(found, configs))
            for protocol, found in self._found.items()
        }
