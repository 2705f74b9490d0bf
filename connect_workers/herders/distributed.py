"""A worker of a cluster as its REST interface sees it: Kafka's ``DistributedHerder`` (KIP-745)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from assignment_api.connect import ConnectorTaskId, ConnectProtocol
from assignor_lab.kafka.herder.config_log.reader import ConfigSnapshot
from assignor_lab.kafka.herder.config_log.records import (
    TargetState,
    connector_records,
    creation_records,
    deletion_records,
    fencing_records,
    logger_records,
    restart_records,
    target_state_records,
    task_records,
)
from assignor_lab.kafka.herder.restarts import RestartRequest, planned
from connect_workers.contract import (
    AlreadyExistsError,
    BadRequestError,
    ConnectorInfo,
    HerderError,
    NotAssignedError,
    NotFoundError,
    NotLeaderError,
    Offset,
    OffsetsAnswer,
    RebalanceExpectedError,
    RestartAnswer,
    TaskConfig,
    Validation,
    WorkerMetric,
    WorkerStage,
)
from connect_workers.group.worker_assignors import WorkerAssignors
from connect_workers.herders.herder_loop import HerderLoop
from connect_workers.herders.herder_metrics import rebalance_metrics, worker_metrics
from connect_workers.herders.herder_reads import HerderReads, check_valid
from connect_workers.herders.reconfiguration import PutTaskConfigs, Reconfiguration, initial_target
from connect_workers.herders.shared import SharedParts
from connect_workers.herders.signatures import sign, verify
from connect_workers.identity import WorkerIdentity
from connect_workers.logs.offset_changes import alter_offsets, check_stopped, reset_offsets
from connect_workers.settings import LiveWorkerSettings

__all__ = ["DistributedHerder"]


class DistributedHerder(HerderReads):
    """The worker; it is a :class:`~connect_workers.contract.Herder`.

    Make and use it on one event loop.

    Args:
        put: Reaches the leader.
    """

    def __init__(
        self,
        worker: WorkerIdentity,
        settings: LiveWorkerSettings,
        shared: SharedParts,
        assignors: WorkerAssignors,
        put: PutTaskConfigs,
    ) -> None:
        self.loop = HerderLoop(worker, settings, shared, assignors.for_worker(settings), self._reconfigure)
        super().__init__(shared.logs, shared.plugins, self.loop.levels)
        self._reconfiguration = Reconfiguration(self.loop, put)

    def _reconfigure(self, connector: str) -> None:
        self._reconfiguration.wanted(connector)

    # --- life -----------------------------------------------------------------------------------------

    async def run(self) -> None:
        try:
            await self.loop.run()
        finally:
            self._reconfiguration.close()

    def stop(self) -> None:
        self._reconfiguration.close()
        self.loop.stop()

    def killed(self) -> None:
        """Drops the worker without leaving the group. The caller also cancels :meth:`run`."""
        self._reconfiguration.close()
        self.loop.killed()

    def unrest(self) -> list[str]:
        """Pending work and waits, as texts; empty if the worker is calm."""
        tasks = [] if self._reconfiguration.is_idle() else ["tasks are to be configured"]
        return [*self.loop.unrest(), *tasks]

    # --- the worker's state ---------------------------------------------------------------------------

    @property
    def stage(self) -> WorkerStage:
        return self.loop.stages.current

    @property
    def ready(self) -> bool:
        return self.loop.ready

    async def _come_round(self) -> None:
        async def nothing() -> None:
            return

        await self.loop.queue.ask(nothing)

    def _fresh(self) -> ConfigSnapshot:
        return self.loop.reader.snapshot()

    def metrics(self) -> Sequence[WorkerMetric]:
        return [
            *rebalance_metrics(self.loop),
            *worker_metrics(self.loop.instances, self._logs, self._plugins, self._fresh()),
        ]

    # --- reads on the loop ----------------------------------------------------------------------------

    async def connector_info(self, name: str) -> ConnectorInfo:
        async def read() -> ConnectorInfo:
            self._check_no_rebalance_expected()
            return self._info(self.loop.snapshot, name)

        return await self.loop.queue.ask(read)

    async def task_configs(self, name: str) -> Sequence[TaskConfig]:
        async def read() -> list[TaskConfig]:
            self._check_no_rebalance_expected()
            return self._task_configs(self.loop.snapshot, name)

        return await self.loop.queue.ask(read)

    async def connector_offsets(self, name: str) -> Sequence[Offset]:
        async def read() -> list[Offset]:
            config = self.loop.snapshot.connectors.get(name)
            if config is None:
                raise NotFoundError(f"Connector {name} not found")
            return self._logs.offsets.listed(name, sink=self._plugins.type_of(config) == "sink")

        return await self.loop.queue.ask(read)

    async def validate(self, plugin: str, config: Mapping[str, str | None]) -> Validation:
        """Checks a configuration, beside the loop."""
        del plugin
        return await asyncio.to_thread(self._plugins.validate, config)

    # --- writes by the leader -------------------------------------------------------------------------

    async def put_connector(
        self, name: str, config: Mapping[str, str | None], *, initial_state: str | None = None, replace: bool
    ) -> tuple[bool, ConnectorInfo]:
        target = None if initial_state is None else initial_target(initial_state)
        texts = dict(config)
        await self._check(texts)

        async def put() -> tuple[bool, ConnectorInfo]:
            self._check_leads("Only the leader can set connector configs.")
            exists = name in self._fresh().connectors
            if exists and not replace:
                raise AlreadyExistsError(f"Connector {name} already exists")
            with self.loop.stages.of(f"writing a config for connector {name} to the config topic"):
                write = connector_records if exists else creation_records
                await self.loop.write(write(name, texts, target))
            # As in Kafka: the tasks are those from before.
            tasks = self.loop.snapshot.tasks(name) if exists else ()
            return not exists, ConnectorInfo(name, texts, tasks, self._plugins.type_of(texts))

        return await self.loop.queue.ask(put)

    async def patch_connector(self, name: str, patch: Mapping[str, str | None]) -> ConnectorInfo:
        async def put() -> ConnectorInfo:
            self._check_leads("Only the leader can set connector configs.")
            before = self._fresh().connectors.get(name)
            if before is None:
                raise NotFoundError(f"Connector {name} not found")
            texts = {key: value for key, value in {**before, **patch}.items() if value is not None or key not in patch}
            await self._check(texts)
            await self.loop.write(connector_records(name, texts, None))
            return ConnectorInfo(name, texts, self.loop.snapshot.tasks(name), self._plugins.type_of(texts))

        return await self.loop.queue.ask(put)

    async def delete_connector(self, name: str) -> None:
        async def delete() -> None:
            self._check_leads("Only the leader can set connector configs.")
            if name not in self._fresh().connectors:
                raise NotFoundError(f"Connector {name} not found")
            with self.loop.stages.of(f"removing the config for connector {name} from the config topic"):
                await self.loop.write(deletion_records(name))

        await self.loop.queue.ask(delete)

    async def stop_connector(self, name: str) -> None:
        async def stop() -> None:
            self._check_leads("Only the leader can transition connectors to the STOPPED state.")
            if name not in self._fresh().connectors:
                raise NotFoundError(f"Unknown connector {name}")
            await self.loop.write([*task_records(name, ()), *target_state_records(name, TargetState.STOPPED)])

        await self.loop.queue.ask(stop)

    async def restart_connector_and_tasks(self, request: RestartRequest) -> RestartAnswer:
        """KIP-745 (Kafka: ``DistributedHerder.processRestartRequests``)."""

        async def restart() -> RestartAnswer:
            self._check_no_rebalance_expected()
            config = self.loop.snapshot.connectors.get(request.connector)
            if config is None:
                raise NotFoundError(f"Unknown connector: {request.connector}")
            self._check_leads("Only the leader can process restart requests.")
            await self.loop.write(restart_records(request))
            status = self._logs.statuses.connector_status(request.connector, self._plugins.type_of(config))
            if status is None:
                raise NotFoundError(f"Status for connector {request.connector} not found")
            return RestartAnswer(planned(request, status))

        return await self.loop.queue.ask(restart)

    async def alter_offsets(self, name: str, offsets: Sequence[Offset]) -> OffsetsAnswer:
        async def alter() -> OffsetsAnswer:
            config = self._check_offsets_may_change(name)
            return await alter_offsets(name, offsets, config, self._plugins, self._logs)

        return await self.loop.queue.ask(alter)

    async def reset_offsets(self, name: str) -> OffsetsAnswer:
        async def reset() -> OffsetsAnswer:
            config = self._check_offsets_may_change(name)
            return await reset_offsets(name, config, self._plugins, self._logs)

        return await self.loop.queue.ask(reset)

    async def put_task_configs(self, name: str, configs: Sequence[Mapping[str, str]]) -> None:
        async def put() -> None:
            self._check_leads("Only the leader may write task configurations.")
            snapshot = self._fresh()
            if name not in snapshot.connectors:
                raise NotFoundError(f"Connector {name} not found")
            if configs and snapshot.target_state(name) is TargetState.STOPPED:
                raise BadRequestError("Cannot submit non-empty set of task configs for stopped connector")
            await self.loop.write(task_records(name, configs))

        await self.loop.queue.ask(put)

    async def fence(self, name: str) -> None:
        async def write() -> None:
            self._check_leads("Only the leader may perform zombie fencing.")
            snapshot = self._fresh()
            config = snapshot.connectors.get(name)
            if config is None:
                raise NotFoundError(f"Connector {name} not found")
            if self._plugins.type_of(config) != "source":
                raise BadRequestError(f"Connector {name} is not a source connector")
            await self.loop.write(fencing_records(name, snapshot.task_count(name)))

        await self.loop.queue.ask(write)

    # --- by the owner ---------------------------------------------------------------------------------

    async def restart_connector(self, name: str) -> None:
        async def restart() -> None:
            self._check_no_rebalance_expected()
            if name not in self.loop.snapshot.connectors:
                raise NotFoundError(f"Unknown connector: {name}")
            self._check_owned(name, "connector")
            with self.loop.stages.of(f"restarting connector {name}"):
                await self.loop.instances.stop_connector(name)
                started = self.loop.work.start_connector(name)
            if started is not None:
                await _started(started, f"Failed to start connector: {name}", self.loop)

        await self.loop.queue.ask(restart)

    async def restart_task(self, task: ConnectorTaskId) -> None:
        async def restart() -> None:
            self._check_no_rebalance_expected()
            if task.connector not in self.loop.snapshot.connectors:
                raise NotFoundError(f"Unknown connector: {task.connector}")
            if task not in self.loop.snapshot.tasks(task.connector):
                raise NotFoundError(f"Unknown task: {task}")
            self._check_owned(task, "task")
            with self.loop.stages.of(f"restarting task {task}"):
                await self.loop.instances.stop_tasks([task])
                if not self.loop.work.start_task(task):
                    raise HerderError(f"Failed to start task: {task}")

        await self.loop.queue.ask(restart)

    # --- by any worker --------------------------------------------------------------------------------

    async def pause_connector(self, name: str) -> None:
        await self._put_target(name, TargetState.PAUSED)

    async def resume_connector(self, name: str) -> None:
        await self._put_target(name, TargetState.STARTED)

    async def _put_target(self, name: str, state: TargetState) -> None:
        if name not in self._fresh().connectors:
            raise NotFoundError(f"Unknown connector {name}")
        await self.loop.write(target_state_records(name, state))

    async def reset_topics(self, name: str) -> None:
        self._logs.statuses.remove_topics(name)

    async def set_cluster_logger_level(self, name: str, level: str) -> None:
        await self.loop.write(logger_records(name, self._levels.checked(level)))

    def verify_internal_request(self, body: bytes, signature: str | None, algorithm: str | None) -> None:
        protocol = self.loop.membership.state.protocol
        if protocol is not None and protocol.version < ConnectProtocol.SESSIONED.version:
            # As in Kafka: groups that speak an older protocol have no keys.
            return
        verify(self._fresh().session_key, body, signature, algorithm)

    def signature(self, body: bytes) -> str | None:
        """Signature for a request to another worker; ``None``: there is no key yet."""
        key = self._fresh().session_key
        return None if key is None else sign(key, body)

    # --- checks ---------------------------------------------------------------------------------------

    async def _check(self, config: Mapping[str, str | None]) -> None:
        check_valid(await asyncio.to_thread(self._plugins.validate, config))

    def _check_no_rebalance_expected(self) -> None:
        if self.loop.news.changes.needs_rebalance:
            raise RebalanceExpectedError("Request cannot be completed because a rebalance is expected")

    def _check_leads(self, message: str) -> None:
        membership = self.loop.membership
        if not membership.state.is_leader:
            raise NotLeaderError(message, membership.leader_url)

    def _check_owned(self, job: str | ConnectorTaskId, noun: str) -> None:
        membership = self.loop.membership
        held = membership.state.held
        if held is not None and job in (held.tasks if isinstance(job, ConnectorTaskId) else held.connectors):
            return
        if membership.state.is_leader:
            raise NotAssignedError(
                f"Cannot restart {noun} since it is not assigned to this member", membership.owner_url(job)
            )
        raise NotLeaderError(f"Cannot restart {noun} since it is not assigned to this member", membership.leader_url)

    def _check_offsets_may_change(self, name: str) -> Mapping[str, str]:
        self._check_no_rebalance_expected()
        self._check_leads("Only the leader can process external offsets modification requests")
        return check_stopped(self.loop.snapshot, name)


async def _started(started: asyncio.Future[TargetState], message: str, loop: HerderLoop) -> None:
    try:
        await asyncio.wait_for(asyncio.shield(started), loop.settings.timings.rebalance_timeout_ms / 2000)
    except TimeoutError:
        # It is starting; its status will have the result.
        return
    except Exception as error:
        raise HerderError(message) from error
