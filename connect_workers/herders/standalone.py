"""The standalone runtime: one worker without a group, which does everything at once (Kafka: ``StandaloneHerder``).

Its configuration is in the config log all the same, so that it survives; the log's other readers do not exist.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from assignment_api.connect import ConnectorTaskId
from assignor_lab.kafka.herder.config_log.reader import ConfigReader, ConfigSnapshot
from assignor_lab.kafka.herder.config_log.records import (
    Records,
    TargetState,
    connector_records,
    creation_records,
    deletion_records,
    target_state_records,
    task_records,
)
from assignor_lab.kafka.herder.restarts import RestartRequest, connector_to_restart, planned, tasks_to_restart
from connect_workers.contract import (
    AlreadyExistsError,
    BadRequestError,
    ConnectorInfo,
    HerderError,
    NotFoundError,
    Offset,
    OffsetsAnswer,
    RestartAnswer,
    TaskConfig,
    Validation,
    WorkerMetric,
    WorkerStage,
)
from connect_workers.herders.herder_metrics import worker_metrics
from connect_workers.herders.herder_reads import HerderReads, check_valid
from connect_workers.herders.reconfiguration import initial_target
from connect_workers.herders.request_queue import ShuttingDownError
from connect_workers.herders.stages import Stages
from connect_workers.herders.standalone_work import StandaloneWork, settled
from connect_workers.instances.instances import Instances
from connect_workers.logger_levels import LoggerLevels, WorkerLogger
from connect_workers.logs.cluster_logs import ClusterLogs
from connect_workers.logs.offset_changes import alter_offsets, check_stopped, reset_offsets
from connect_workers.plugins.connector_plugins import ConnectorPlugins
from connect_workers.settings import LiveWorkerSettings

__all__ = ["StandaloneHerder"]

T = TypeVar("T")


class StandaloneHerder(HerderReads):
    """The worker; it is a :class:`~connect_workers.contract.Herder`.

    Make and use it on one event loop.

    Args:
        settings: Its configuration; keys of groups are not read.
    """

    def __init__(
        self, worker_id: str, settings: LiveWorkerSettings, logs: ClusterLogs, plugins: ConnectorPlugins
    ) -> None:
        super().__init__(logs, plugins, LoggerLevels(logs.clock))
        self._log = WorkerLogger(self._levels, "herder", worker_id)
        self._stages = Stages(logs.clock)
        self._reader = ConfigReader()
        self._ready = False
        self._closed = False
        self._lock = asyncio.Lock()
        self._later: set[asyncio.Task[None]] = set()
        self._instances = Instances(
            worker_id, logs, plugins, settings, lambda: 0, self._wanted, self._levels,
        )  # fmt: skip
        self._work = StandaloneWork(self._instances, logs, plugins, self._fresh)
        logs.config.subscribe(self._reader.read)
        self._reader.reach(logs.config.end)
        self._reader.start()

    # --- life -----------------------------------------------------------------------------------------

    async def start(self) -> None:
        async with self._lock:
            for name in self._fresh().connectors:
                self._work.start_connector(name)
                self._work.start_tasks(self._fresh().tasks(name))
        self._ready = True

    async def stop(self) -> None:
        self._closed = True
        for task in list(self._later):
            task.cancel()
        async with self._lock:
            await self._instances.stop_all(list(self._instances.connectors), [])
            await self._instances.stop_all([], list(self._instances.tasks))
        self._ready = False

    # --- the worker's state ---------------------------------------------------------------------------

    @property
    def stage(self) -> WorkerStage:
        return self._stages.current

    @property
    def ready(self) -> bool:
        return self._ready

    async def _come_round(self) -> None:
        await self._alone("checking its health", _nothing)

    def metrics(self) -> Sequence[WorkerMetric]:
        return list(worker_metrics(self._instances, self._logs, self._plugins, self._fresh()))

    def _fresh(self) -> ConfigSnapshot:
        return self._reader.snapshot()

    # --- reads ----------------------------------------------------------------------------------------

    async def connector_info(self, name: str) -> ConnectorInfo:
        return self.known_connector(name)

    async def task_configs(self, name: str) -> Sequence[TaskConfig]:
        return self._task_configs(self._fresh(), name)

    async def connector_offsets(self, name: str) -> Sequence[Offset]:
        config = self._fresh().connectors.get(name)
        if config is None:
            raise NotFoundError(f"Connector {name} not found")
        return self._logs.offsets.listed(name, sink=self._plugins.type_of(config) == "sink")

    async def validate(self, plugin: str, config: Mapping[str, str | None]) -> Validation:
        del plugin
        return await asyncio.to_thread(self._plugins.validate, config)

    # --- writes ---------------------------------------------------------------------------------------

    async def put_connector(
        self, name: str, config: Mapping[str, str | None], *, initial_state: str | None = None, replace: bool
    ) -> tuple[bool, ConnectorInfo]:
        target = None if initial_state is None else initial_target(initial_state)
        check_valid(await asyncio.to_thread(self._plugins.validate, config))

        async def put() -> tuple[bool, ConnectorInfo]:
            exists = name in self._fresh().connectors
            if exists and not replace:
                raise AlreadyExistsError(f"Connector {name} already exists")
            records = connector_records if exists else creation_records
            await self._configure(name, records(name, config, target))
            return not exists, self.known_connector(name)

        return await self._alone(f"configuring connector {name}", put)

    async def patch_connector(self, name: str, patch: Mapping[str, str | None]) -> ConnectorInfo:
        async def put() -> ConnectorInfo:
            before = self._fresh().connectors.get(name)
            if before is None:
                raise NotFoundError(f"Connector {name} not found")
            config = {key: value for key, value in {**before, **patch}.items() if value is not None or key not in patch}
            check_valid(await asyncio.to_thread(self._plugins.validate, config))
            await self._configure(name, connector_records(name, config, None))
            return self.known_connector(name)

        return await self._alone(f"configuring connector {name}", put)

    async def _configure(self, name: str, records: Records) -> None:
        # Kafka stops first, and keeps configurations in memory. Here writing may fail: then all goes on as it was.
        await self._logs.config.write(records)
        await self._instances.stop_connector(name)
        if await self._work.started(name) and self._fresh().target_state(name) is TargetState.STARTED:
            await self._work.configure_tasks(name)

    async def delete_connector(self, name: str) -> None:
        async def delete() -> None:
            tasks = self._checked_tasks(name, f"Connector {name} not found")
            await self._logs.config.write(deletion_records(name))
            await self._instances.stop_tasks(tasks)
            await self._instances.stop_connector(name)
            self._logs.statuses.remove_topics(name)
            for task in tasks:
                self._logs.statuses.remove(task)
            self._logs.statuses.remove(name)

        await self._alone(f"deleting connector {name}", delete)

    async def stop_connector(self, name: str) -> None:
        async def stop() -> None:
            tasks = self._checked_tasks(name, f"Unknown connector {name}")
            await self._logs.config.write([
                *task_records(name, ()), *target_state_records(name, TargetState.STOPPED)
            ])  # fmt: skip
            await self._instances.stop_tasks(tasks)
            for task in tasks:
                self._logs.statuses.remove(task)
            moved = self._instances.set_target(name, TargetState.STOPPED)
            if moved is not None:
                await settled(asyncio.wrap_future(moved))

        await self._alone(f"stopping connector {name}", stop)

    async def pause_connector(self, name: str) -> None:
        await self._alone(f"pausing connector {name}", partial(self._put_target, name, TargetState.PAUSED))

    async def resume_connector(self, name: str) -> None:
        await self._alone(f"resuming connector {name}", partial(self._put_target, name, TargetState.STARTED))

    async def _put_target(self, name: str, target: TargetState) -> None:
        self._checked_tasks(name, f"Unknown connector {name}")
        await self._logs.config.write(target_state_records(name, target))
        moved = self._instances.set_target(name, target)
        if moved is not None and await settled(asyncio.wrap_future(moved)) and target is TargetState.STARTED:
            await self._work.configure_tasks(name)

    async def alter_offsets(self, name: str, offsets: Sequence[Offset]) -> OffsetsAnswer:
        async def alter() -> OffsetsAnswer:
            config = check_stopped(self._fresh(), name)
            return await alter_offsets(name, offsets, config, self._plugins, self._logs)

        return await self._alone(f"altering offsets of {name}", alter)

    async def reset_offsets(self, name: str) -> OffsetsAnswer:
        async def reset() -> OffsetsAnswer:
            return await reset_offsets(name, check_stopped(self._fresh(), name), self._plugins, self._logs)

        return await self._alone(f"resetting offsets of {name}", reset)

    async def reset_topics(self, name: str) -> None:
        self._logs.statuses.remove_topics(name)

    # --- restarts -------------------------------------------------------------------------------------

    async def restart_connector(self, name: str) -> None:
        """Restarts the connector's instance, and configures its tasks."""

        async def restart() -> None:
            self._checked_tasks(name, f"Unknown connector: {name}")
            await self._instances.stop_connector(name)
            if not await self._work.started(name):
                raise HerderError(f"Failed to start connector: {name}")
            if self._fresh().target_state(name) is TargetState.STARTED:
                await self._work.configure_tasks(name)

        await self._alone(f"restarting connector {name}", restart)

    async def restart_task(self, task: ConnectorTaskId) -> None:
        async def restart() -> None:
            if task not in self._checked_tasks(task.connector, f"Unknown connector: {task.connector}"):
                raise NotFoundError(f"Unknown task: {task}")
            await self._instances.stop_tasks([task])
            if not self._work.start_task(task):
                raise HerderError(f"Failed to start task: {task}")

        await self._alone(f"restarting task {task}", restart)

    async def restart_connector_and_tasks(self, request: RestartRequest) -> RestartAnswer:
        async def restart() -> RestartAnswer:
            name = request.connector
            tasks = self._checked_tasks(name, f"Unknown connector: {name}")
            connector_type = self._plugins.type_of(self._fresh().connectors[name])
            status = self._logs.statuses.connector_status(name, connector_type)
            if status is None:
                raise NotFoundError(f"Status for connector {name} not found")
            plan = planned(request, status)
            chosen = tasks_to_restart(plan, tasks)
            if connector_to_restart(plan, [name]):
                await self._instances.stop_connector(name)
                self._instances.on_restarting(name)
            await self._instances.stop_tasks(chosen)
            for task in chosen:
                self._instances.on_restarting(task)
            if connector_to_restart(plan, [name]):
                await self._work.started(name)
            self._work.start_tasks(chosen)
            return RestartAnswer(plan)

        return await self._alone(f"restarting connector {request.connector}", restart)

    # --- only in groups ------------------------------------------------------------------------------

    async def put_task_configs(self, name: str, configs: Sequence[Mapping[str, str]]) -> None:
        del name, configs
        raise BadRequestError(
            "Kafka Connect in standalone mode does not support externally setting task configurations"
        )

    async def fence(self, name: str) -> None:
        del name
        raise BadRequestError("Kafka Connect in standalone mode does not support zombie fencing")

    async def set_cluster_logger_level(self, name: str, level: str) -> None:
        self._levels.set(name, level)

    def verify_internal_request(self, body: bytes, signature: str | None, algorithm: str | None) -> None:
        del body, signature, algorithm

    # --- inside ---------------------------------------------------------------------------------------

    async def _alone(self, stage: str, action: Callable[[], Awaitable[T]]) -> T:
        if self._closed:
            raise ShuttingDownError("Worker is shutting down")
        # The caller may give up waiting. The work is finished all the same.
        return await asyncio.shield(asyncio.ensure_future(self._locked(stage, action)))

    async def _locked(self, stage: str, action: Callable[[], Awaitable[T]]) -> T:
        async with self._lock:
            with self._stages.of(stage):
                answer = await action()
            # The next request sees the records that arrived meanwhile.
            await self._logs.statuses.flush()
            return answer

    def _checked_tasks(self, name: str, message: str) -> tuple[ConnectorTaskId, ...]:
        snapshot = self._fresh()
        if name not in snapshot.connectors:
            raise NotFoundError(message)
        return snapshot.tasks(name)

    def _wanted(self, connector: str) -> None:
        async def configure() -> None:
            try:
                await self._alone(f"configuring tasks of {connector}", partial(self._work.configure_tasks, connector))
            except HerderError as error:
                self._log.warning("tasks of %s were not configured: %s", connector, error)

        task = asyncio.create_task(configure())
        self._later.add(task)
        task.add_done_callback(self._later.discard)


async def _nothing() -> None:
    return
