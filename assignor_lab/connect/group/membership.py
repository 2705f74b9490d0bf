"""A live worker's membership in its group: joining, leading, taking assignments (reference 6.2).

What members tell each other are Connect's own bytes, so that a capture of this group is a capture of a Connect group.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

import attrs

from assignment_api.connect import (
    NO_GENERATION,
    NO_JOBS,
    WILDCARD,
    ConnectAssignment,
    ConnectorTaskId,
    ConnectProtocol,
    Jobs,
    Rebalance,
    Worker,
)
from assignor_lab.connect.clock import Clock
from assignor_lab.connect.group.live_group import Answer, LiveGroup
from assignor_lab.connect.group.worker_assignors import WorkerAssignor
from assignor_lab.connect.logs.config_records import ConfigSnapshot
from assignor_lab.connect.settings import LiveWorkerSettings
from assignor_lab.kafka.coordinator import Joined, JoinRequest, Refused, Synced, SyncRequest
from assignor_lab.kafka.wire.connect import (
    AssignmentMessage,
    SubscriptionMessage,
    decode_connect_assignment,
    decode_connect_subscription,
    encode_connect_assignment,
    offered_subscriptions,
    protocol_of_wire_name,
)

__all__ = ["FatalMembershipError", "LeaderState", "Membership"]

_logger = logging.getLogger(__name__)

_FAILED = 1


class FatalMembershipError(Exception):
    """The group speaks none of the worker's protocols: the worker ends."""


@attrs.frozen
class LeaderState:
    """What the leader of a generation knows (reference 1.2).

    Args:
        urls: Member id to URL.
        owners: Connector or task to member id.
    """

    urls: Mapping[str, str]
    owners: Mapping[str | ConnectorTaskId, str]

    def owner_url(self, job: str | ConnectorTaskId) -> str | None:
        """URL of who has a job."""
        return self.urls.get(self.owners.get(job, ""))


class Membership:
    """One life of a worker in its group. For the event loop's thread.

    Args:
        process: Name of the worker's process, once in the cluster's life.
        url: The worker's REST URL.
        settings: The worker's configuration.
        group: The group.
        clock: The clock.
        assignors: What it leads with.
        fresh_snapshot: The worker's newest snapshot.
        on_revoked: Stops jobs, and waits for that.
        on_assigned: Hears of an assignment that was taken.
        on_lost: Ends all work at once: the worker has left, and others will be given it.
        wake: Wakes the herder.
    """

    def __init__(
        self,
        process: str,
        url: str,
        settings: LiveWorkerSettings,
        group: LiveGroup,
        clock: Clock,
        assignors: Mapping[ConnectProtocol, WorkerAssignor],
        fresh_snapshot: Callable[[], ConfigSnapshot],
        on_revoked: Callable[[Jobs], Awaitable[None]],
        on_assigned: Callable[[AssignmentMessage], None],
        on_lost: Callable[[], None],
        wake: Callable[[], None],
    ) -> None:
        self.member_id: str | None = None
        self.generation = NO_GENERATION
        #: What the last assignment said, its revocations until they are done.
        self.told: AssignmentMessage | None = None
        #: Everything that is owned.
        self.held: Jobs | None = None
        self.protocol: ConnectProtocol | None = None
        self.leader_state: LeaderState | None = None
        self._process, self._url, self._settings = process, url, settings
        self._group, self._clock, self._assignors = group, clock, assignors
        self._fresh_snapshot = fresh_snapshot
        self._on_revoked, self._on_assigned, self._on_lost = on_revoked, on_assigned, on_lost
        self._wake = wake
        #: What the last join told of the config log.
        self.sent_snapshot = fresh_snapshot()
        self._last_completed = NO_GENERATION
        self._group_says_rejoin = self._rejoin_requested = self._wants_another_round = False
        self._joining = self._waits_for_group = False
        self._polled_ms = clock.now_ms()

    # --- what the herder asks -------------------------------------------------------------------------

    @property
    def is_leader(self) -> bool:
        """Whether this worker leads, by the assignment that it holds."""
        return self.told is not None and self.told.error != _FAILED and self.told.leader == self.member_id

    @property
    def leader_url(self) -> str | None:
        """Where the leader is, or ``None``: not known at this moment."""
        if self.told is None or self.told.error == _FAILED or self.needs_join:
            return None
        return self.told.leader_url

    def owner_url(self, job: str | ConnectorTaskId) -> str | None:
        """Where the owner of a job is; ``None`` if nobody is, or this worker cannot know (reference 1.2)."""
        if self.needs_join or not self.is_leader or self.leader_state is None:
            return None
        return self.leader_state.owner_url(job)

    @property
    def needs_join(self) -> bool:
        """Whether the worker has to join before it does anything else."""
        return (
            self._group_says_rejoin
            or self._rejoin_requested
            or self._joining
            or self.member_id is None
            or self.told is None
            or self.told.error == _FAILED
        )

    def request_rejoin(self) -> None:
        """The next poll joins."""
        self._rejoin_requested = True

    def revocations_done(self) -> None:
        """What was revoked is not reported any more."""
        if self.told is not None:
            self.told = attrs.evolve(self.told, revoked_connectors=(), revoked_tasks=())

    def leave(self, reason: str = "leaves") -> None:
        """Leaves the group; what is held is kept."""
        if self.member_id is not None:
            self._group.leave(self.member_id, reason)
        self.member_id = None

    def drop_everything(self) -> None:
        """Nothing is held any more."""
        self.told = self.held = None

    # --- joining --------------------------------------------------------------------------------------

    async def ensure(self) -> None:
        """Returns when the worker is a member with an assignment.

        Raises:
            FatalMembershipError: if the group speaks none of the worker's protocols.
        """
        self._polled_ms = self._clock.now_ms()
        while self.needs_join:
            if not await self._join():
                # Another round is about to begin, or a member id is to be had: at once, but not at any price.
                await asyncio.sleep(0.005)
        self._polled_ms = self._clock.now_ms()

    def polled(self) -> None:
        """The herder has come round."""
        self._polled_ms = self._clock.now_ms()

    async def _join(self) -> bool:
        self._joining = True
        try:
            self._group_says_rejoin = False
            self.leader_state = None
            ok = self.told is not None and self.told.error != _FAILED
            if self.protocol is ConnectProtocol.EAGER and self.held is not None and ok:
                await self._on_revoked(self.held)
            joined = await self._answered(self._group.join(self._request()))
            if not isinstance(joined, Joined):
                return self._refused(joined)
            self.member_id, self.generation = joined.member_id, joined.generation
            assignments = None if joined.members is None else await self._lead(joined)
            request = SyncRequest(joined.member_id, joined.generation, assignments)
            synced = await self._answered(self._group.sync(self._process, request))
            if not isinstance(synced, Synced) or synced.assignment is None:
                return self._refused(synced)
            await self._take(synced)
        finally:
            self._joining = False
        return True

    async def _answered(self, asked: Awaitable[Answer]) -> Answer:
        self._waits_for_group = True
        try:
            return await asked
        finally:
            self._waits_for_group = False
            self._polled_ms = self._clock.now_ms()

    def _refused(self, answer: object) -> bool:
        if isinstance(answer, Refused):
            if answer.reason in ("unknown_member", "illegal_generation"):
                self.member_id = None
            elif answer.reason == "inconsistent_protocol":
                raise FatalMembershipError(
                    f"the group speaks none of the protocols of connect.protocol={self._settings.protocol.value}: "
                    "choose one that all its workers know"
                )
        self._rejoin_requested = True
        return False

    def _request(self) -> JoinRequest:
        held = self.told
        if held is not None and self.held is not None:
            held = attrs.evolve(held, connectors=self.held.connectors, tasks=self.held.tasks)
        timings = self._settings.timings
        self.sent_snapshot = self._fresh_snapshot()
        offers = offered_subscriptions(
            self._settings.protocol, self._url, self.sent_snapshot.offset, held, self._settings.static
        )
        return JoinRequest(
            self._process,
            self.member_id,
            {protocol_of_wire_name(name): data for name, data in offers},
            timings.rebalance_timeout_ms,
            timings.session_timeout_ms,
        )

    # --- leading --------------------------------------------------------------------------------------

    async def _lead(self, joined: Joined) -> dict[str, bytes] | None:
        assert joined.members is not None
        members = {member: decode_connect_subscription(data) for member, data in joined.members.items()}
        furthest = max(member.config_offset for member in members.values())
        snapshot = self._fresh_snapshot()
        if snapshot.offset < furthest:
            _logger.info("%s leads, but has not read the config log as far as others", self._url)
            return self._told(joined, furthest, None)
        rebalance = Rebalance(
            snapshot.jobs(),
            [Worker(member, each.owned, each.static or WILDCARD) for member, each in members.items()],
            joined.protocol,
            self._clock.now_ms(),
            joined.generation,
            self._last_completed,
            self.protocol,
        )
        outcome = await self._assignors[joined.protocol].assign(rebalance)
        if outcome.assignment is None:
            # The round fails for everybody; what runs goes on, and the members come again.
            _logger.error("generation %d: %s", joined.generation, outcome.failure)
            return self._told(joined, furthest, None)
        answer = outcome.assignment
        for remark in answer.remarks:
            _logger.warning("generation %d: %s", joined.generation, remark)
        self._wants_another_round = answer.rejoin
        self.leader_state = _leader_state(members, answer, rebalance)
        # As in Kafka: the members' furthest place, even where the leader itself has read on (reference 2).
        return self._told(joined, furthest, answer)

    def _told(self, joined: Joined, offset: int, answer: ConnectAssignment | None) -> dict[str, bytes]:
        assert joined.members is not None
        version = joined.protocol.version
        messages = {}
        for member in joined.members:
            told = None if answer is None else answer.workers.get(member)
            assigned, revoked = (NO_JOBS, NO_JOBS) if told is None else (told.assigned, told.revoked)
            messages[member] = encode_connect_assignment(
                AssignmentMessage(
                    version, 0 if answer is not None else _FAILED, joined.member_id, self._url, offset,
                    assigned.connectors, assigned.tasks, revoked.connectors, revoked.tasks,
                    0 if answer is None else answer.delay_ms,
                )
            )  # fmt: skip
        return messages

    # --- taking an assignment -------------------------------------------------------------------------

    async def _take(self, synced: Synced) -> None:
        told = decode_connect_assignment(synced.assignment)
        # What heartbeats said on the way here has been done.
        self._group_says_rejoin = False
        before, self.protocol = self.protocol, synced.protocol
        self._rejoin_requested, self._wants_another_round = self._wants_another_round, False
        revoked = Jobs(told.revoked_connectors, told.revoked_tasks)
        if synced.protocol.is_incremental:
            if len(revoked):
                await self._on_revoked(revoked)
            self.held = told.assigned if self.held is None else told.assigned.plus(self.held.minus(revoked))
        else:
            came_down = before is not None and before.is_incremental
            if came_down and self.held is not None and self._settings.downgrade == "kip415":
                await self._on_revoked(self.held.minus(told.assigned))
            self.held = told.assigned
        self.told, self._last_completed = told, synced.generation
        self._on_assigned(told)

    # --- heartbeats -----------------------------------------------------------------------------------

    async def beat(self) -> None:
        """Sends heartbeats for ever, and leaves for a herder that does not come round (reference 6.2)."""
        timings = self._settings.timings
        while True:
            await asyncio.sleep(timings.heartbeat_interval_ms / 1000)
            if self.member_id is None or self._waits_for_group:
                continue
            if self._clock.now_ms() - self._polled_ms > timings.rebalance_timeout_ms:
                _logger.warning("%s leaves: its herder was busy for longer than the rebalance timeout", self._url)
                self.leave("does not poll and leaves")
                self._rejoin_requested = True
                # Kafka lets the work go on (KAFKA-16056), and it runs twice.
                self.drop_everything()
                self._on_lost()
                continue
            answer = self._group.heartbeat(self.member_id)
            if answer == "unknown_member":
                self.member_id = None
            if answer != "ok":
                self._group_says_rejoin = True
                self._wake()


def _leader_state(
    members: Mapping[str, SubscriptionMessage], answer: ConnectAssignment, rebalance: Rebalance
) -> LeaderState:
    owners: dict[str | ConnectorTaskId, str] = {}
    for member, jobs in answer.owned_after(rebalance).items():
        owners.update(dict.fromkeys((*jobs.connectors, *jobs.tasks), member))
    return LeaderState({member: each.url for member, each in members.items()}, owners)
