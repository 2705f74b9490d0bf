"""The work of a distributed worker: its connectors and tasks, started, stopped, restarted.

Kafka: ``DistributedHerder``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial

from assignment_api.connect import ConnectorTaskId, ConnectProtocol, Jobs
from assignor_lab.kafka.herder.config_log.reader import ConfigSnapshot
from assignor_lab.kafka.herder.config_log.records import TargetState, without_nulls
from assignor_lab.kafka.herder.restarts import RestartRequest, connector_to_restart, planned, tasks_to_restart
from assignor_lab.kafka.herder.running_work import RunningWork
from connect_workers.instances.instances import Instances
from connect_workers.logger_levels import WorkerLogger
from connect_workers.logs.statuses import StatusLog

__all__ = ["WorkerJobs"]


class WorkerJobs:
    """Connectors and tasks of a worker.

    For the event loop's thread.

    Args:
        on_started: Called with a connector that has reached the target state STARTED: its tasks are to be configured.
    """

    def __init__(
        self,
        instances: Instances,
        statuses: StatusLog,
        log: WorkerLogger,
        held: Callable[[], Jobs | None],
        snapshot: Callable[[], ConfigSnapshot],
        on_started: Callable[[str], None],
    ) -> None:
        self.instances = instances
        self._statuses, self._log = statuses, log
        self._held, self._snapshot, self._on_started = held, snapshot, on_started
        self._running = RunningWork()
        #: Connectors on their way to a target state.
        self._moving: set[asyncio.Future[TargetState]] = set()
        self._closed = False

    def close(self) -> None:
        """The worker is about to end: no more tasks are to be configured."""
        self._closed = True

    def is_moving(self) -> bool:
        """Whether connectors are on their way to a target state."""
        return bool(self._moving)

    # --- with assignments -----------------------------------------------------------------------------

    def start_assigned(self, protocol: ConnectProtocol | None) -> None:
        held = self._held() or Jobs()
        jobs = self._running.to_start(held)
        for name in jobs.connectors:
            self.start_connector(name)
        for task in jobs.tasks:
            self.start_task(task)
        self._running.started(held, protocol)

    async def stop_revoked(self, jobs: Jobs) -> None:
        await self.instances.stop_all(jobs.connectors, jobs.tasks)
        self._running.stopped(jobs)

    def give_up_all(self) -> None:
        """Ends everything at once: others will be given it."""
        self.instances.give_up_all()
        self._running.stopped_everything()

    # --- with changes of the configuration ------------------------------------------------------------

    async def restart_connectors(self, connectors: Iterable[str]) -> None:
        """Restarts those that are here, with their other configurations."""
        for name in connectors:
            if self._holds(name):
                await self.instances.stop_connector(name)
                if self._holds(name):
                    self.start_connector(name)

    def apply_target_states(self, connectors: Iterable[str]) -> None:
        snapshot = self._snapshot()
        for name in connectors:
            if name in snapshot.connectors:
                moved = self.instances.set_target(name, snapshot.target_state(name))
                if moved is not None:
                    self._moving_to(name, asyncio.wrap_future(moved))

    async def stop_tasks_of(self, connectors: tuple[str, ...]) -> None:
        """Stops tasks that have other configurations, and waits for that; they start again where they belong then."""
        tasks = self._running.tasks_of(connectors, self._held())
        await self.instances.stop_all([], tasks)
        self._running.stopped_for_new_configs(tasks)

    def _holds(self, connector: str) -> bool:
        held = self._held()
        return held is not None and connector in held.connectors

    # --- restarts -------------------------------------------------------------------------------------

    async def restart(self, request: RestartRequest) -> None:
        """Restarts this worker's part of a request, by its own view of the statuses (KIP-745).

        The connector stops first, then all tasks together; they start again in the same order.
        """
        name = request.connector
        status = self._statuses.connector_status(name, "unknown")
        if status is None or name not in self._snapshot().connectors:
            return
        plan, held = planned(request, status), self._held() or Jobs()
        connector = connector_to_restart(plan, held.connectors)
        tasks = tasks_to_restart(plan, held.tasks)
        if connector:
            await self.instances.stop_connector(name)
            self.instances.on_restarting(name)
        if tasks:
            await self.instances.stop_tasks(tasks)
            for task in tasks:
                self.instances.on_restarting(task)
        # Stopping takes time. The work may have another owner by now.
        held = self._held() or Jobs()
        if connector and name in held.connectors:
            self.start_connector(name)
        for task in tasks:
            if task in held.tasks:
                self.start_task(task)

    # --- one by one -----------------------------------------------------------------------------------

    def start_connector(self, name: str) -> asyncio.Future[TargetState] | None:
        """Starts a connector's instance; once it runs, its tasks are configured."""
        snapshot = self._snapshot()
        config = snapshot.connectors.get(name)
        if config is None or name in self.instances.connectors:
            return None
        started = self.instances.start_connector(name, without_nulls(config), snapshot.target_state(name))
        return self._moving_to(name, asyncio.wrap_future(started))

    def start_task(self, task: ConnectorTaskId) -> bool:
        snapshot = self._snapshot()
        connector, config = snapshot.connectors.get(task.connector), snapshot.task_configs_by_id.get(task)
        if connector is None or config is None or task.task >= snapshot.task_count(task.connector):
            return False
        return self.instances.start_task(
            task,
            without_nulls(connector),
            config,
            snapshot.task_count(task.connector),
            snapshot.target_state(task.connector),
        )

    def _moving_to(self, name: str, moved: asyncio.Future[TargetState]) -> asyncio.Future[TargetState]:
        self._moving.add(moved)
        moved.add_done_callback(partial(self._moved, name))
        return moved

    def _moved(self, name: str, future: asyncio.Future[TargetState]) -> None:
        self._moving.discard(future)
        if future.cancelled() or self._closed:
            return
        error = future.exception()
        if error is not None:
            self._log.warning("connector %s: %s", name, error)
        elif future.result() is TargetState.STARTED:
            self._on_started(name)
