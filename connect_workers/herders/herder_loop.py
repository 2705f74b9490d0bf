"""A distributed worker's herder: one loop that does one thing after the other (Kafka: ``DistributedHerder``)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence

from assignment_api.connect import ConnectProtocol, Jobs
from assignor_lab.kafka.herder.assignment import Assignment
from assignor_lab.kafka.herder.config_log.reader import ConfigReader, ConfigSnapshot
from assignor_lab.kafka.herder.config_log.records import session_key_records
from assignor_lab.kafka.herder.rebalance_completion import RebalanceCompletion
from assignor_lab.kafka.herder.session_keys import key_is_due
from connect_workers.contract import HerderError
from connect_workers.group.membership import FatalMembershipError, WorkerMembership
from connect_workers.group.rebalance_times import RebalanceTimes
from connect_workers.group.worker_assignors import WorkerAssignor
from connect_workers.herders.request_queue import RequestQueue
from connect_workers.herders.shared import SharedParts
from connect_workers.herders.signatures import new_key
from connect_workers.herders.stages import Stages
from connect_workers.herders.work import WorkerJobs
from connect_workers.identity import WorkerIdentity
from connect_workers.instances.instances import Instances
from connect_workers.logger_levels import LoggerLevels, WorkerLogger
from connect_workers.logs.config_news import ConfigNews
from connect_workers.settings import LiveWorkerSettings
from connect_workers.storage import StorageError

__all__ = ["HerderLoop"]


class HerderLoop:
    """The loop and its parts.

    Args:
        reconfigure: Called with a connector that has started here, or wants its tasks configured again.
    """

    def __init__(
        self,
        worker: WorkerIdentity,
        settings: LiveWorkerSettings,
        shared: SharedParts,
        assignors: Mapping[ConnectProtocol, WorkerAssignor],
        reconfigure: Callable[[str], None],
    ) -> None:
        logs = shared.logs
        self.worker, self.settings, self.plugins = worker, settings, shared.plugins
        self.logs = logs
        self.levels = LoggerLevels(logs.clock)
        self.log = WorkerLogger(self.levels, "herder", worker.worker_id)
        self.stages = Stages(logs.clock)
        self.ready = False
        self.stopping = False
        self.rebalances = RebalanceTimes()
        self.news = ConfigNews(lambda: self.snapshot, self.levels, self.wake)
        self.reader = ConfigReader(self.news)
        #: The snapshot that the herder acts on; the reader may be ahead.
        self.snapshot: ConfigSnapshot = self.reader.snapshot()
        self._woken = asyncio.Event()
        self.queue = RequestQueue(logs.clock, self.wake)
        self.instances = Instances(
            worker.worker_id, logs, shared.plugins, settings,
            lambda: max(self.membership.state.generation, 0), reconfigure, self.levels,
        )  # fmt: skip
        self.work = WorkerJobs(
            self.instances, logs.statuses, self.log, lambda: self.membership.state.held, lambda: self.snapshot,
            reconfigure,
        )  # fmt: skip
        self.membership = WorkerMembership(worker, settings, shared.group, assignors, self)
        self._group = shared.group
        self._completion = RebalanceCompletion()
        self._polls = False
        self._unsubscribe: Callable[[], None] | None = None

    # --- life -----------------------------------------------------------------------------------------

    async def run(self) -> None:
        self._unsubscribe = self.logs.config.subscribe(self.reader.read)
        # Compaction drops deleted keys: the other workers may be further than the last record.
        self.reader.reach(self.logs.config.end)
        self.snapshot = self.reader.snapshot()
        self.reader.start()
        heartbeats = asyncio.create_task(self.membership.beat(), name=f"heartbeat {self.worker.worker_id}")
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
        """Ends the loop: it stops its work and leaves the group."""
        self.stopping = True
        self.work.close()
        self.wake()

    def killed(self) -> None:
        """The loop was cancelled: nothing of this process goes on."""
        self.ready = False
        self.stopping = True
        self.work.close()
        if self._unsubscribe is not None:
            self._unsubscribe()
        self.instances.kill()
        self._group.forget(self.worker.process)
        self.queue.close()

    def wake(self) -> None:
        self._woken.set()

    async def _shut_down(self) -> None:
        with self.stages.of("shutting down"):
            self.queue.close()
            # Connectors first: they might configure tasks.
            await self.instances.stop_all(list(self.instances.connectors), [])
            await self.instances.stop_all([], list(self.instances.tasks))
            await self._flush_statuses()
            if self._unsubscribe is not None:
                self._unsubscribe()
            self.membership.leave()
            self._group.leave_process(self.worker.process)

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
        self._completion.look_again()
        if await self._apply_news():
            return
        await self._poll()

    async def _be_a_member(self) -> bool:
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
        moments = [self.queue.next_ms, self._completion.rejoin_at_ms]
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
        state, key = self.membership.state, self.snapshot.session_key
        now = self.logs.clock.now_ms()
        signs = state.protocol is not None and state.protocol.version >= ConnectProtocol.SESSIONED.version
        if not (signs and state.is_leader and key_is_due(key, now, self.settings.key_ttl_ms)):
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

    async def _restart_as_asked(self) -> None:
        for request in self.news.restarts.take():
            with self.stages.of(f"restarting connector {request.connector}"):
                try:
                    await self.work.restart(request)
                except HerderError as error:
                    self.log.warning("restart of %s dropped: %s", request.connector, error)

    async def _apply_news(self) -> bool:
        if not self.news.changes:
            return False
        self.snapshot = self.reader.snapshot()
        actions = self.news.changes.take(self.membership.state.protocol)
        if actions.rejoin:
            self.membership.state.request_rejoin()
        with self.stages.of("handling changes of the configuration"):
            await self.work.restart_connectors(actions.restart_connectors)
            self.work.apply_target_states(actions.target_states)
            await self.work.stop_tasks_of(actions.stop_tasks_of)
        return actions.rejoin

    # --- MembershipListener ---------------------------------------------------------------------------

    def fresh_snapshot(self) -> ConfigSnapshot:
        return self.reader.snapshot()

    def on_assigned(self, assignment: Assignment) -> None:
        now = self.logs.clock.now_ms()
        self._completion.assigned(assignment, now)
        self.rebalances.begun_ms = now
        if self.membership.state.is_leader:
            self._clean_statuses()

    def _clean_statuses(self) -> None:
        known = self.reader.snapshot()
        for job in self.logs.statuses.jobs():
            if not known.knows(job):
                self.logs.statuses.remove(job)

    async def on_revoked(self, jobs: Jobs) -> None:
        # Kafka takes it that under eager nothing runs before an assignment is carried out; where the group has just
        # gone back to it, something does.
        with self.stages.of("handling revoked connectors and tasks"):
            await self.work.stop_revoked(jobs)
            # Otherwise a status of this worker could follow one of the next owner.
            await self._flush_statuses()
        known = self.reader.snapshot()
        for name in self.logs.statuses.connectors_with_topics():
            if name not in known.connectors:
                self.logs.statuses.remove_topics(name)

    def on_lost(self) -> None:
        """Ends all work at once."""
        self.log.warning("ends its work at once: it has left the group")
        self.work.give_up_all()

    # --- after an assignment --------------------------------------------------------------------------

    async def _complete_rebalance(self) -> bool:
        """Starts the assigned jobs; false if the loop must begin anew.

        Kafka: ``DistributedHerder.handleRebalanceCompleted``.
        """
        state, assignment = self.membership.state, self.membership.state.assignment
        if self._completion.resolved or assignment is None:
            return True
        missing = self._completion.missing(assignment, state.member_id, self.snapshot.offset, self.logs.clock.now_ms())
        if missing.read:
            # The log is in this process: written records have been read. The sent snapshot is enough if it is as far as
            # the leader's. Otherwise a herder could not start its work while others keep writing.
            sent = self.membership.sent_snapshot
            self.snapshot = sent if sent.offset == assignment.offset else self.reader.snapshot()
        if missing.join or self.snapshot.offset != assignment.offset:
            state.request_rejoin()
            if assignment.failed:
                await asyncio.sleep(0.05)
            return False
        if state.is_leader:
            await self._clean_late_statuses()
        with self.stages.of("starting connectors and tasks"):
            self.work.start_assigned(state.protocol)
        self.rebalances.completed(self.logs.clock.now_ms())
        self._completion.resolved = True
        return not (state.follow_revocations() or self.membership.needs_join)

    async def _clean_late_statuses(self) -> None:
        await self._flush_statuses()
        self._clean_statuses()

    async def _flush_statuses(self) -> None:
        try:
            await self.logs.statuses.flush()
        except StorageError as error:
            self.log.warning("statuses not written and read to their end: %s", error)

    # --- state -----------------------------------------------------------------------------------------

    def unrest(self) -> list[str]:
        found = {
            self.stages.current.description: not self._polls or self._woken.is_set(),
            "an assignment is not carried out": not self._completion.resolved,
            "a rebalance is scheduled": self._completion.rejoin_at_ms is not None,
            "it has to join": self.membership.needs_join,
            "it has news to act on": bool(self.news.changes or self.news.restarts),
            "requests wait": self.queue.next_ms is not None,
            "connectors are on their way to a state": self.work.is_moving(),
            "instances start": not self.instances.is_settled(),
        }
        return [words for words, is_so in found.items() if is_so]
