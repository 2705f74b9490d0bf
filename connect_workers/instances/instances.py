"""The connectors and tasks that one worker runs: Kafka's ``Worker``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future

import attrs

from assignment_api.connect import ConnectorTaskId
from assignor_lab.kafka.herder.config_log.records import TargetState
from assignor_lab.kafka.herder.statuses import JobState, Status
from connect_workers.instances.connector_run import ConnectorRun, traceback_text
from connect_workers.instances.instance_events import InstanceHost
from connect_workers.instances.task_run import TaskRun, TaskSpec
from connect_workers.logger_levels import LoggerLevels, WorkerLogger
from connect_workers.logs.cluster_logs import ClusterLogs
from connect_workers.logs.statuses import Job
from connect_workers.plugins.connector_plugins import ConnectorPlugins, UnknownConnectorClassError
from connect_workers.plugins.topic_patterns import topic_matcher
from connect_workers.settings import LiveWorkerSettings

__all__ = ["Instances", "StartCounts"]

#: How many stops are waited for at once, as with Kafka's pool.
_STOPPED_AT_ONCE = 8


@attrs.define
class StartCounts:
    """How starts went, since the worker came up."""

    tried: int = 0
    succeeded: int = 0
    failed: int = 0


class Instances:
    """Starts, pauses and stops instances, and writes their statuses.

    For the event loop's thread.

    Args:
        on_task_configs_wanted: Called with a connector's name when its tasks are to be configured again.
    """

    def __init__(
        self,
        worker_id: str,
        logs: ClusterLogs,
        plugins: ConnectorPlugins,
        settings: LiveWorkerSettings,
        generation: Callable[[], int],
        on_task_configs_wanted: Callable[[str], None],
        levels: LoggerLevels,
    ) -> None:
        self.connectors: dict[str, ConnectorRun] = {}
        self.tasks: dict[ConnectorTaskId, TaskRun] = {}
        self._worker_id, self._logs, self._plugins, self._timings = worker_id, logs, plugins, settings.timings
        self._generation, self._wanted = generation, on_task_configs_wanted
        self._topic_tracking = settings.topic_tracking
        self._log = WorkerLogger(levels, "instances", worker_id)
        #: Starts that were tried, succeeded, failed; of connectors and of tasks.
        self.connector_starts, self.task_starts = StartCounts(), StartCounts()
        self._starting: set[Job] = set()
        self._host = InstanceHost(worker_id, self, asyncio.get_running_loop())
        self._slots = asyncio.Semaphore(_STOPPED_AT_ONCE)

    # --- starting -------------------------------------------------------------------------------------

    def start_connector(self, name: str, config: Mapping[str, str], target: TargetState) -> Future[TargetState]:
        """Starts a connector's instance; the answer comes when its target state is reached, or it has failed."""
        self._tried(name)
        try:
            kind = self._plugins.kind(config.get("connector.class", ""))
        except UnknownConnectorClassError as error:
            self.on_failed(name, traceback_text(error))
            failed: Future[TargetState] = Future()
            failed.set_exception(error)
            return failed
        run = ConnectorRun(name, kind.connector, config, self._host, self._logs.data, self._logs.ledger)
        self.connectors[name] = run
        return run.start(target)

    def start_task(
        self,
        task: ConnectorTaskId,
        connector_config: Mapping[str, str],
        config: Mapping[str, str],
        task_count: int,
        target: TargetState,
    ) -> bool:
        """Starts a task; false if it failed at once, with the reason in its status.

        Args:
            target: It waits while this is PAUSED.
        """
        if task in self.tasks:
            return False
        self._tried(task)
        try:
            kind = self._plugins.kind(connector_config.get("connector.class", ""))
        except UnknownConnectorClassError as error:
            self.on_failed(task, traceback_text(error))
            return False
        matches = topic_matcher(connector_config)
        topics = self._logs.topics

        def partitions() -> list[tuple[str, int]]:
            every = topics.partitions(matches)
            return [where for where in every if where[1] % max(task_count, 1) == task.task]

        spec = TaskSpec(task, kind.connector.task_class, kind.connector.version, config, partitions)
        run = TaskRun(spec, self._host, self._logs, paused=target is TargetState.PAUSED)
        self.tasks[task] = run
        run.start()
        return True

    def set_target(self, name: str, target: TargetState) -> Future[TargetState] | None:
        """Has a connector and its tasks here go to a target state; ``None`` if the connector is not here."""
        for task, run in self.tasks.items():
            if task.connector == name and target is not TargetState.STOPPED:
                run.pause(paused=target is TargetState.PAUSED)
        connector = self.connectors.get(name)
        return None if connector is None else connector.transition(target)

    def task_configs(self, name: str, most: int) -> Future[list[Mapping[str, str]]] | None:
        connector = self.connectors.get(name)
        return None if connector is None else connector.task_configs(most)

    # --- stopping -------------------------------------------------------------------------------------

    async def stop_connector(self, name: str) -> bool:
        """Stops a connector's instance and waits for it; false if it was not here, or is given up."""
        run = self.connectors.get(name)
        if run is None:
            return False
        run.stop()
        ended = await _within(run.ended.wait(), self._timings.connector_shutdown_graceful_timeout_ms)
        if not ended:
            self._log.warning("connector %s did not stop in time and is given up", name)
            run.silence()
            self.on_shutdown(name)
        if self.connectors.get(name) is run:
            del self.connectors[name]
        return ended

    async def stop_tasks(self, tasks: Iterable[ConnectorTaskId]) -> None:
        """Stops tasks together, and waits for all of them once."""
        runs = [(task, self.tasks[task]) for task in tasks if task in self.tasks]
        for _, run in runs:
            run.stop()
        await _within(_all_ended([run for _, run in runs]), self._timings.task_shutdown_graceful_timeout_ms)
        for task, run in runs:
            self._forget_task(task, run)

    async def stop_all(self, connectors: Iterable[str], tasks: Iterable[ConnectorTaskId]) -> None:
        """Stops connectors and tasks, some at a time, each with patience of its own."""
        jobs: list[Awaitable[None]] = [self._stop_one(name) for name in connectors if name in self.connectors]
        jobs += [self._stop_one(task) for task in tasks if task in self.tasks]
        await asyncio.gather(*jobs)

    async def _stop_one(self, job: Job) -> None:
        async with self._slots:
            if isinstance(job, ConnectorTaskId):
                await self.stop_tasks([job])
            else:
                await self.stop_connector(job)

    def _forget_task(self, task: ConnectorTaskId, run: TaskRun) -> None:
        if not run.ended.is_set():
            self._log.warning("task %s did not stop in time and is given up", task)
            run.silence()
            self._starting.discard(task)
        if self.tasks.get(task) is run:
            del self.tasks[task]

    def give_up_all(self) -> None:
        """Gives everything up at once: it ends as soon as it can, and has no effect any more."""
        jobs: list[Job] = [*self.connectors, *self.tasks]
        self.kill()
        self.connectors.clear()
        self.tasks.clear()
        self._starting.clear()
        for job in jobs:
            self.on_shutdown(job)

    def kill(self) -> None:
        """Everything ends without a word, as if the process had died."""
        for connector in self.connectors.values():
            connector.silence()
            connector.stop()
        for task in self.tasks.values():
            task.silence()

    def is_settled(self) -> bool:
        """Whether every start has reported its result."""
        return not self._starting

    # --- InstanceListener -----------------------------------------------------------------------------

    def on_running(self, job: Job) -> None:
        if job in self._starting:
            self._starting.remove(job)
            self._counts(job).succeeded += 1
        self._logs.statuses.put(job, self._status(job, JobState.RUNNING))

    def on_paused(self, job: Job) -> None:
        self._starting.discard(job)
        self._logs.statuses.put(job, self._status(job, JobState.PAUSED))

    def on_stopped(self, job: Job) -> None:
        self._starting.discard(job)
        self._logs.statuses.put(job, self._status(job, JobState.STOPPED))

    def on_failed(self, job: Job, trace: str) -> None:
        self._log.error("%s has failed", job)
        if job in self._starting:
            self._starting.remove(job)
            self._counts(job).failed += 1
        self._logs.statuses.put_safe(job, self._status(job, JobState.FAILED, trace))

    def on_shutdown(self, job: Job) -> None:
        self._starting.discard(job)
        self._logs.statuses.put_safe(job, self._status(job, JobState.UNASSIGNED))

    def on_restarting(self, job: Job) -> None:
        """Writes RESTARTING (Kafka: ``DistributedHerder.processRestartRequests``)."""
        self._logs.statuses.put(job, self._status(job, JobState.RESTARTING))

    def on_task_configs_wanted(self, connector: str) -> None:
        self._wanted(connector)

    def on_topic_used(self, connector: str, topic: str, task: int) -> None:
        if self._topic_tracking:
            self._logs.statuses.add_topic(connector, topic, task, self._logs.clock.now_ms())

    def _tried(self, job: Job) -> None:
        self._counts(job).tried += 1
        self._starting.add(job)

    def _counts(self, job: Job) -> StartCounts:
        return self.task_starts if isinstance(job, ConnectorTaskId) else self.connector_starts

    def _status(self, job: Job, state: str, trace: str | None = None) -> Status:
        run = self.tasks.get(job) if isinstance(job, ConnectorTaskId) else self.connectors.get(job)
        return Status(state, self._worker_id, self._generation(), trace, None if run is None else run.version)


async def _all_ended(runs: list[TaskRun]) -> None:
    for run in runs:
        await run.ended.wait()


async def _within(waiting: Awaitable[object], limit_ms: int) -> bool:
    try:
        await asyncio.wait_for(waiting, limit_ms / 1000)
    except TimeoutError:
        return False
    return True
