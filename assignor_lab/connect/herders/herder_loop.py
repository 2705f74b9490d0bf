"""A distributed worker's herder: one loop that does one thing after the other (reference 6.3, 6.4, 7.4)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from assignment_api.connect import NO_GENERATION, ConnectorTaskId, ConnectProtocol, Jobs
from assignor_lab.connect.group.live_group import LiveGroup
from assignor_lab.connect.group.membership import FatalMembershipError, Membership
from assignor_lab.connect.group.rebalance_times import RebalanceTimes
from assignor_lab.connect.group.worker_assignors import WorkerAssignor
from assignor_lab.connect.herders.config_changes import apply_news
from assignor_lab.connect.herders.herder import HerderError
from assignor_lab.connect.herders.request_queue import RequestQueue
from assignor_lab.connect.herders.session_keys import key_is_due, new_key
from assignor_lab.connect.herders.stages import Stages
from assignor_lab.connect.herders.worker_restarts import restart_on_worker
from assignor_lab.connect.instances.instances import Instances
from assignor_lab.connect.logger_levels import LoggerLevels, WorkerLogger
from assignor_lab.connect.logs.cluster_logs import ClusterLogs
from assignor_lab.connect.logs.config_news import ConfigNews
from assignor_lab.connect.logs.config_records import (
    ConfigReader,
    ConfigSnapshot,
    TargetState,
    session_key_records,
    without_nulls,
)
from assignor_lab.connect.plugins.connector_plugins import ConnectorPlugins
from assignor_lab.connect.settings import LiveWorkerSettings
from assignor_lab.connect.storage import StorageError
from assignor_lab.kafka.wire.connect import AssignmentMessage

__all__ = ["HerderLoop"]


class HerderLoop:
    """The loop and what it works on. For the event loop's thread.

    Args:
        process: Name of the worker's process, once in the cluster's life.
        worker_id: ``host:port`` of the worker.
        url: Its REST URL.
        settings: Its configuration.
        logs: What the cluster shares.
        group: The group.
        plugins: Connectors that can be run.
        assignors: What it leads with.
        reconfigure: Called with a connector that has started here, or wants its tasks configured again.
    """

    def __init__(
        self,
        process: str,
        worker_id: str,
        url: str,
        settings: LiveWorkerSettings,
        logs: ClusterLogs,
        group: LiveGroup,
        plugins: ConnectorPlugins,
        assignors: Mapping[ConnectProtocol, WorkerAssignor],
        reconfigure: Callable[[str], None],
    ) -> None:
        self.process, self.worker_id, self.url, self.settings = process, worker_id, url, settings
        self.logs, self.group, self.plugins = logs, group, plugins
        self.levels = LoggerLevels(logs.clock)
        self.log = WorkerLogger(self.levels, "herder", worker_id)
        self.stages = Stages(logs.clock)
        self.ready = False
        self.stopping = False
        self.rebalances = RebalanceTimes()
        self.news = ConfigNews(lambda: self.snapshot, self.levels, self.wake)
        self.reader = ConfigReader(self.news)
        self.snapshot: ConfigSnapshot = self.reader.snapshot()
        self._woken = asyncio.Event()
        self.queue = RequestQueue(logs.clock, self.wake)
        self.instances = Instances(
            worker_id, logs, plugins, settings.timings, lambda: max(self.membership.generation, 0), reconfigure,
            topic_tracking=settings.topic_tracking,
        )  # fmt: skip
        self.membership = Membership(
            process, url, settings, group, logs.clock, assignors, self.reader.snapshot, self._on_revoked,
            self._on_assigned, self._on_lost, self.wake,
        )  # fmt: skip
        self._reconfigure = reconfigure
        self._running: set[str | ConnectorTaskId] = set()
        #: Tasks that stopped since they have other configurations: they start again where they still belong.
        self.restart_tasks: dict[ConnectorTaskId, None] = {}
        #: Connectors on their way to a target state.
        self._moving: set[asyncio.Future[TargetState]] = set()
        self._polls = False
        self._resolved = True
        self._scheduled_ms: int | None = None
        self._unsubscribe: Callable[[], None] | None = None

    # --- life -----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Runs until the worker is told to stop, or cannot go on."""
        self._unsubscribe = self.logs.config.subscribe(self.reader.read)
        self.snapshot = self.reader.snapshot()
        self.reader.start()
        heartbeats = asyncio.create_task(self.membership.beat(), name=f"heartbeat {self.worker_id}")
        self.ready = True
        try:
            try:
                while not self.stopping:
                    await self._tick()
            except FatalMembershipError as error:
                self.log.warning("cannot go on: %s", error)
            self.ready = False
            # Stopping may take longer than the session: heartbeats go on meanwhile.
            await self._shut_down()
        finally:
            self.ready = False
            heartbeats.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await heartbeats

    def stop(self) -> None:
        """Tells the loop to end: it stops its work and leaves the group."""
        self.stopping = True
        self.wake()

    def killed(self) -> None:
        """The loop was cancelled: nothing of this process goes on."""
        self.ready = False
        self.stopping = True
        if self._unsubscribe is not None:
            self._unsubscribe()
        self.instances.kill()
        self.group.forget(self.process)
        self.queue.close()

    def wake(self) -> None:
        """Something is to be done."""
        self._woken.set()

    async def _shut_down(self) -> None:
        with self.stages.of("shutting down"):
            self.queue.close()
            # Connectors first: they might configure tasks.
            await self.instances.stop_all(list(self.instances.connectors), [])
            await self.instances.stop_all([], list(self.instances.tasks))
            if self._unsubscribe is not None:
                self._unsubscribe()
            self.membership.leave()
            self.group.leave_process(self.process)

    # --- one round of the loop ------------------------------------------------------------------------

    async def _tick(self) -> None:
        with self.stages.of("ensuring membership in the cluster"):
            if not await self._be_a_member():
                return
        if not await self._complete_rebalance():
            return
        if not await self._renew_key():
            return
        await self.queue.run_due()
        await self._restart_as_asked()
        if self._scheduled_ms is not None:
            self._resolved = False
        if await apply_news(self):
            return
        await self._poll()

    async def _be_a_member(self) -> bool:
        """Joins where that is needed; false if the worker is told to stop meanwhile."""
        if not self.membership.needs_join:
            self.membership.polled()
            return True
        joining = asyncio.ensure_future(self.membership.ensure())
        try:
            while not joining.done():
                self._woken.clear()
                if self.stopping:
                    return False
                woken = asyncio.ensure_future(self._woken.wait())
                try:
                    await asyncio.wait((joining, woken), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    woken.cancel()
            self.wake()
            await joining
        finally:
            if not joining.done():
                joining.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await joining
        return True

    async def _poll(self) -> None:
        """Waits until something is to be done."""
        moments = [self.queue.next_ms, self._scheduled_ms]
        known = [moment for moment in moments if moment is not None]
        timeout = None if not known else max(min(known) - self.logs.clock.now_ms(), 0) / 1000
        # The herder has to be seen to be alive now and then.
        longest = self.settings.timings.rebalance_timeout_ms / 3000
        self._polls = True
        with self.stages.of("polling the group coordinator"), contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), longest if timeout is None else min(timeout, longest))
        self._polls = False
        self._woken.clear()

    async def _renew_key(self) -> bool:
        protocol, key = self.membership.protocol, self.snapshot.session_key
        now = self.logs.clock.now_ms()
        signs = protocol is not None and protocol.version >= ConnectProtocol.SESSIONED.version
        if not (signs and self.membership.is_leader and key_is_due(key, now, self.settings.key_ttl_ms)):
            return True
        with self.stages.of("distributing a new session key"):
            try:
                await self.write(session_key_records(new_key(now)))
            except StorageError as error:
                self.log.warning("no session key written: %s", error)
                await asyncio.sleep(0.25)
                return False
        self.snapshot = self.reader.snapshot()
        return True

    async def write(self, records: Sequence[tuple[str, object]]) -> None:
        """Appends to the config log, and waits until every worker can have read it.

        Raises:
            StorageError: if that failed, or took too long.
        """
        limit = self.settings.timings.config_write_timeout_ms / 1000
        try:
            await asyncio.wait_for(self.logs.config.write(records), limit)
        except TimeoutError:
            raise StorageError(f"the config log was not written within {limit:g} s") from None

    # --- after an assignment --------------------------------------------------------------------------

    def _on_assigned(self, told: AssignmentMessage) -> None:
        now = self.logs.clock.now_ms()
        self._scheduled_ms = now + told.delay_ms if told.delay_ms > 0 else None
        self._resolved = False
        self.rebalances.begun_ms = now
        if self.membership.is_leader:
            self._clean_statuses()

    def _clean_statuses(self) -> None:
        known = self.reader.snapshot()
        for job in self.logs.statuses.jobs():
            if not known.knows(job):
                self.logs.statuses.remove(job)

    async def _clean_late_statuses(self) -> None:
        """Takes away what workers said of revoked jobs, too: it may have been on its way when the assignment came."""
        try:
            await self.logs.statuses.flush()
        except StorageError as error:
            self.log.warning("statuses not read to their end: %s", error)
        self._clean_statuses()

    async def _on_revoked(self, jobs: Jobs) -> None:
        protocol = self.membership.protocol
        if not (self._resolved or (protocol is not None and protocol.is_incremental)):
            return
        with self.stages.of("handling revoked connectors and tasks"):
            await self.instances.stop_all(jobs.connectors, jobs.tasks)
        self._running.difference_update(jobs.connectors, jobs.tasks)
        known = self.reader.snapshot()
        for name in self.logs.statuses.connectors_with_topics():
            if name not in known.connectors:
                self.logs.statuses.remove_topics(name)

    def _on_lost(self) -> None:
        self.log.warning("ends its work at once: it has left the group")
        self.instances.give_up_all()
        self._running.clear()

    async def _complete_rebalance(self) -> bool:
        """Starts what was assigned; false if the loop has to begin anew (reference 6.4)."""
        told = self.membership.told
        if self._resolved or told is None:
            return True
        needs_join = needs_read = False
        if told.error:
            needs_join = True
            needs_read = told.leader == self.membership.member_id or self.snapshot.offset < told.config_offset
        elif self.snapshot.offset < told.config_offset:
            needs_read = True
        if self._scheduled_ms is not None and self._scheduled_ms <= self.logs.clock.now_ms():
            needs_join, self._scheduled_ms = True, None
        if needs_read:
            # The log is in this process: what is written has been read. What was sent is enough where it is as far as
            # the leader's, or a herder that others keep writing for would never come to its work.
            sent = self.membership.sent_snapshot
            self.snapshot = sent if sent.offset == told.config_offset else self.reader.snapshot()
        if needs_join or self.snapshot.offset != told.config_offset:
            self.membership.request_rejoin()
            if told.error:
                await asyncio.sleep(0.05)
            return False
        if self.membership.is_leader:
            await self._clean_late_statuses()
        with self.stages.of("starting connectors and tasks"):
            self._start_work()
        self.rebalances.completed(self.logs.clock.now_ms())
        self._resolved = True
        if told.revoked_connectors or told.revoked_tasks:
            self.membership.revocations_done()
            self.membership.request_rejoin()
            return False
        return not self.membership.needs_join

    def _start_work(self) -> None:
        held = self.membership.held or Jobs()
        self._running.difference_update(self.restart_tasks)
        self.restart_tasks.clear()
        for name in held.connectors:
            if name not in self._running:
                self.start_connector(name)
        for task in held.tasks:
            if task not in self._running:
                self.start_task(task)
        protocol = self.membership.protocol
        incremental = protocol is not None and protocol.is_incremental
        self._running = {*held.connectors, *held.tasks} if incremental else set()

    def start_connector(self, name: str) -> asyncio.Future[TargetState] | None:
        """Starts a connector's instance; once it runs, its tasks are configured."""
        config = self.snapshot.connectors.get(name)
        if config is None or name in self.instances.connectors:
            return None
        target = self.snapshot.target_state(name)
        started = self.instances.start_connector(name, without_nulls(config), target)
        return self.moving_to(name, asyncio.wrap_future(started))

    def moving_to(self, name: str, moved: asyncio.Future[TargetState]) -> asyncio.Future[TargetState]:
        """A connector is on its way to a target state; once it is STARTED, its tasks are configured."""
        self._moving.add(moved)
        moved.add_done_callback(partial(self._connector_moved, name))
        return moved

    def _connector_moved(self, name: str, future: asyncio.Future[TargetState]) -> None:
        self._moving.discard(future)
        if future.cancelled() or self.stopping:
            return
        error = future.exception()
        if error is not None:
            self.log.warning("connector %s: %s", name, error)
        elif future.result() is TargetState.STARTED:
            self._reconfigure(name)

    def start_task(self, task: ConnectorTaskId) -> bool:
        """Starts a task."""
        snapshot = self.snapshot
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

    # --- restarts -------------------------------------------------------------------------------------

    async def _restart_as_asked(self) -> None:
        for request in self.news.restarts.take():
            with self.stages.of(f"restarting connector {request.connector}"):
                try:
                    await restart_on_worker(self, request)
                except HerderError as error:
                    self.log.warning("restart of %s dropped: %s", request.connector, error)

    # --- what requests ask ----------------------------------------------------------------------------

    @property
    def generation(self) -> int:
        """The worker's generation; -1 before the first."""
        return self.membership.generation if self.membership.member_id is not None else NO_GENERATION

    def unrest(self) -> list[str]:
        """What it does, wants or waits for, in words; nothing where it is calm."""
        found = {
            self.stages.current.description: not self._polls or self._woken.is_set(),
            "an assignment is not carried out": not self._resolved,
            "a rebalance is scheduled": self._scheduled_ms is not None,
            "it has to join": self.membership.needs_join,
            "it has news to act on": bool(self.news or self.news.restarts),
            "requests wait": self.queue.next_ms is not None,
            "connectors are on their way to a state": bool(self._moving),
            "instances start": not self.instances.is_settled(),
        }
        return [words for words, is_so in found.items() if is_so]
