"""The work of a standalone worker: its connectors and tasks, started and configured (reference 7.5)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from assignment_api.connect import ConnectorTaskId
from assignment_api.connectors import ConnectorError
from assignor_lab.kafka.herder.config_log.reader import ConfigSnapshot
from assignor_lab.kafka.herder.config_log.records import TargetState, task_records, without_nulls
from connect_workers.contract import HerderError
from connect_workers.herders.reconfiguration import has_changed, most_tasks, with_worker_keys
from connect_workers.instances.connector_run import traceback_text
from connect_workers.instances.instances import Instances
from connect_workers.logs.cluster_logs import ClusterLogs
from connect_workers.plugins.connector_plugins import ConnectorPlugins

__all__ = ["StandaloneWork", "settled"]


class StandaloneWork:
    """Connectors and tasks of a standalone worker.

    For the event loop's thread, one call at a time.
    """

    def __init__(
        self,
        instances: Instances,
        logs: ClusterLogs,
        plugins: ConnectorPlugins,
        fresh: Callable[[], ConfigSnapshot],
    ) -> None:
        self._instances, self._logs, self._plugins, self._fresh = instances, logs, plugins, fresh

    def start_connector(self, name: str) -> asyncio.Future[TargetState]:
        """Starts a connector's instance; the future has the target state that it has reached."""
        snapshot = self._fresh()
        config = without_nulls(snapshot.connectors[name])
        return asyncio.wrap_future(self._instances.start_connector(name, config, snapshot.target_state(name)))

    async def started(self, name: str) -> bool:
        """Starts a connector's instance, and waits for that; false if it failed, with the reason in its status."""
        return await settled(self.start_connector(name))

    def start_tasks(self, tasks: Sequence[ConnectorTaskId]) -> None:
        for task in tasks:
            self.start_task(task)

    def start_task(self, task: ConnectorTaskId) -> bool:
        """Starts a task; false if it is not configured, or has failed at once."""
        snapshot = self._fresh()
        config = snapshot.task_configs_by_id.get(task)
        if config is None:
            return False
        connector = without_nulls(snapshot.connectors[task.connector])
        count, target = snapshot.task_count(task.connector), snapshot.target_state(task.connector)
        return self._instances.start_task(task, connector, config, count, target)

    async def configure_tasks(self, name: str) -> None:
        """Reads a connector's task configurations; tasks with changed ones restart."""
        snapshot = self._fresh()
        if name not in snapshot.connectors or snapshot.target_state(name) is not TargetState.STARTED:
            return
        config = without_nulls(snapshot.connectors[name])
        request = self._instances.task_configs(name, most_tasks(config))
        if request is None:
            return
        try:
            wanted: list[Mapping[str, str]] = await asyncio.wrap_future(request)
            configs = with_worker_keys(wanted, config, self._plugins)
        except ConnectorError as error:
            self._instances.on_failed(name, traceback_text(error))
            return
        if not has_changed(configs, name, snapshot):
            return
        before = snapshot.tasks(name)
        await self._logs.config.write(task_records(name, configs))
        await self._instances.stop_tasks(before)
        for task in before[len(configs) :]:
            self._logs.statuses.remove(task)
        self.start_tasks(self._fresh().tasks(name))


async def settled(future: asyncio.Future[TargetState]) -> bool:
    """Waits until a connector has reached its target state; false if it failed."""
    try:
        await future
    except (ConnectorError, HerderError):
        # Its status has the reason.
        return False
    return True
