"""A live worker's membership in its group: joining, leading, taking assignments (Kafka: ``WorkerCoordinator``)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Protocol

from assignment_api.connect import (
    ConfiguredJobs,
    ConnectAssignment,
    ConnectorTaskId,
    ConnectProtocol,
    Jobs,
    Rebalance,
)
from assignor_lab.kafka.coordinator import JoinReply, Refused, Synced, SyncRequest
from assignor_lab.kafka.herder.assignment import Assignment
from assignor_lab.kafka.herder.config_log.end import offset_of_round
from assignor_lab.kafka.herder.config_log.reader import ConfigSnapshot
from assignor_lab.kafka.herder.leading import LeaderState, assignments_to_members, leader_state, round_to_decide
from assignor_lab.kafka.herder.membership import MembershipState
from assignor_lab.kafka.herder.poll_timeout import polls_too_rarely
from assignor_lab.kafka.wire.connect import decode_connect_subscription
from assignor_lab.runtime.invocation import CallFailure
from connect_workers.group.live_group import LiveGroup, Response
from connect_workers.group.messages import assignment_bytes, assignment_from, join_request, member_from
from connect_workers.group.worker_assignors import WorkerAssignor
from connect_workers.identity import WorkerIdentity
from connect_workers.logger_levels import LoggerLevels, WorkerLogger
from connect_workers.settings import LiveWorkerSettings

__all__ = ["FatalMembershipError", "WorkerMembership", "MembershipListener"]


class FatalMembershipError(Exception):
    """The group speaks none of the worker's protocols: the worker ends."""


class MembershipListener(Protocol):
    """The herder of a member."""

    levels: LoggerLevels

    def fresh_snapshot(self) -> ConfigSnapshot: ...

    async def on_revoked(self, jobs: Jobs) -> None: ...

    def on_assigned(self, assignment: Assignment) -> None: ...

    def on_lost(self) -> None:
        """Ends all work at once: the worker has left, and others will be given it."""

    def wake(self) -> None: ...


class WorkerMembership:
    """One life of a worker in its group.

    For the event loop's thread.
    """

    def __init__(
        self,
        worker: WorkerIdentity,
        settings: LiveWorkerSettings,
        group: LiveGroup,
        assignors: Mapping[ConnectProtocol, WorkerAssignor],
        herder: MembershipListener,
    ) -> None:
        self.state = MembershipState()
        self.leader_state: LeaderState | None = None
        self._worker, self._settings = worker, settings
        self._log = WorkerLogger(herder.levels, "membership", worker.worker_id)
        self._group, self._clock, self._assignors, self._herder = group, group.clock, assignors, herder
        #: State of the config log that the last join reported.
        self.sent_snapshot = herder.fresh_snapshot()
        self._joining = self._waits_for_group = False
        #: Deleted jobs that this leader's last round left to members.
        self._deleted: set[str | ConnectorTaskId] = set()
        self._polled_ms = self._clock.now_ms()

    # --- calls of the herder -------------------------------------------------------------------------

    @property
    def needs_join(self) -> bool:
        """Whether the worker has to join before it does anything else, or is joining."""
        return self._joining or self.state.needs_join

    @property
    def leader_url(self) -> str | None:
        """Where the leader is, or ``None``: not known at this moment."""
        return None if self.needs_join else self.state.leader

    def owner_url(self, job: str | ConnectorTaskId) -> str | None:
        """URL of a job's owner; ``None`` if there is none or it is unknown.

        Kafka: ``ExtendedWorkerState``.
        """
        if self.needs_join or not self.state.is_leader or self.leader_state is None:
            return None
        return self.leader_state.owner_url(job)

    def leave(self, reason: str = "leaves") -> None:
        """Leaves the group and keeps its jobs."""
        if self.state.member_id is not None:
            self._group.leave(self.state.member_id, reason)
        self.state.member_id = None

    # --- joining --------------------------------------------------------------------------------------

    async def ensure(self) -> None:
        """Returns when the worker is a member with an assignment.

        Raises:
            FatalMembershipError: if the group speaks none of the worker's protocols.
        """
        self.polled()
        while self.needs_join:
            if not await self._join():
                # Another round is about to begin, or a member id is to be had: at once, but not at any price.
                await asyncio.sleep(0.005)
        self.polled()

    def polled(self) -> None:
        self._polled_ms = self._clock.now_ms()

    async def _join(self) -> bool:
        self._joining = True
        state = self.state
        try:
            state.joining()
            self.leader_state = None
            if state.stops_all_to_join and state.held is not None:
                await self._herder.on_revoked(state.held)
            self.sent_snapshot = self._herder.fresh_snapshot()
            request = join_request(self._worker, self._settings, self.sent_snapshot.offset, state)
            joined = await self._answered(self._group.join(request))
            if not isinstance(joined, JoinReply):
                return self._refused(joined)
            state.joined(joined)
            assignments = None if joined.members is None else await self._lead(joined, joined.members)
            asked = SyncRequest(joined.member_id, joined.generation, assignments)
            synced = await self._answered(self._group.sync(self._worker.process, asked))
            if not isinstance(synced, Synced) or synced.assignment is None:
                return self._refused(synced)
            await self._take(synced)
        finally:
            self._joining = False
        return True

    async def _answered(self, request: Awaitable[Response]) -> Response:
        self._waits_for_group = True
        try:
            return await request
        finally:
            self._waits_for_group = False
            self.polled()

    def _refused(self, answer: Response) -> bool:
        if self.state.refused(answer if isinstance(answer, Refused) else None):
            raise FatalMembershipError(
                f"the group speaks none of the protocols of connect.protocol={self._settings.protocol.value}: "
                "choose one that all its workers know"
            )
        return False

    # --- leading --------------------------------------------------------------------------------------

    async def _lead(self, joined: JoinReply, members: Mapping[str, bytes]) -> dict[str, bytes]:
        subscriptions = {member: decode_connect_subscription(data) for member, data in members.items()}
        furthest = max(each.config_offset for each in subscriptions.values())
        # Members act on the config log up to the leader's place. Records written after the leader joined are for the
        # next round: a member cannot start a connector whose record it has not read.
        joined_with = self.sent_snapshot
        snapshot = joined_with if joined_with.offset >= furthest else self._herder.fresh_snapshot()
        offset = offset_of_round(furthest, joined_with.offset, snapshot.offset)
        answer = None
        if offset is None:
            self._log.info("leads, but has not read the config log as far as others")
        else:
            workers = [member_from(member, each) for member, each in subscriptions.items()]
            rebalance = round_to_decide(self.state, joined, workers, snapshot.jobs(), self._clock.now_ms())
            answer = await self._decided(rebalance)
            if answer is not None:
                urls = {member: each.url for member, each in subscriptions.items()}
                self.leader_state = leader_state(urls, rebalance, answer)
                self.state.wants_another_round = answer.rejoin or self._leaves_deleted(rebalance.configured)
        assignments = assignments_to_members(
            members, joined.member_id, self._worker.url, furthest if offset is None else offset, answer
        )
        return {member: assignment_bytes(each, joined.protocol) for member, each in assignments.items()}

    def _leaves_deleted(self, configured: ConfiguredJobs) -> bool:
        """Whether this round leaves deleted jobs to members and the one before did not.

        Kafka's assignor revokes deleted jobs only if it remembers placing them (reference 3.9, Q1). A new leader
        remembers nothing and would leave them running until the next rebalance.
        """
        assert self.leader_state is not None
        before, self._deleted = self._deleted, {job for job in self.leader_state.owners if job not in configured}
        return not self._deleted <= before

    async def _decided(self, rebalance: Rebalance) -> ConnectAssignment | None:
        answer = (await self._assignors[rebalance.protocol].assign(rebalance)).result
        if isinstance(answer, CallFailure):
            # The round fails for all members. Running jobs go on, and the members join again.
            self._log.error("generation %d: %s", rebalance.generation, answer)
            return None
        for remark in answer.remarks:
            self._log.warning("generation %d: %s", rebalance.generation, remark)
        return answer

    # --- taking an assignment -------------------------------------------------------------------------

    async def _take(self, synced: Synced) -> None:
        assignment = assignment_from(synced.assignment)
        revoked = self.state.receive(synced, assignment, self._settings.downgrade)
        if len(revoked):
            await self._herder.on_revoked(revoked)
        self.state.take(synced, assignment)
        self._herder.on_assigned(assignment)

    # --- heartbeats -----------------------------------------------------------------------------------

    async def beat(self) -> None:
        """Sends heartbeats for ever, and leaves for a herder that does not come round.

        Kafka: ``WorkerCoordinator``.
        """
        timings = self._settings.timings
        while True:
            await asyncio.sleep(timings.heartbeat_interval_ms / 1000)
            if self.state.member_id is None or self._waits_for_group:
                continue
            if polls_too_rarely(self._clock.now_ms(), self._polled_ms, timings.rebalance_timeout_ms):
                self._log.warning("leaves: its herder was busy for longer than the rebalance timeout")
                self.leave("does not poll and leaves")
                self.state.request_rejoin()
                # Kafka lets the work go on (KAFKA-16056), and it runs twice.
                self.state.forget_everything()
                self._herder.on_lost()
            elif self.state.heartbeat_answered(self._group.heartbeat(self.state.member_id)):
                self._herder.wake()
