"""Link between workers and coordinator: joins, syncs, heartbeats and their replies.

Kafka: ``GroupMetadataManager``, ``WorkerCoordinator``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from assignor_lab.kafka.coordinator import AddressedReply, Coordinator, JoinRequest, Refused, Synced, SyncRequest
from assignor_lab.kafka.herder.poll_timeout import polls_too_rarely
from assignor_lab.simulation.clock import DeadlineTimer, VirtualClock
from assignor_lab.simulation.connect.surroundings.job_runs import JobRuns
from assignor_lab.simulation.connect.timings import ConnectTimings
from assignor_lab.simulation.connect.workers.herder_driver import Driven
from assignor_lab.simulation.connect.workers.worker import WorkerProcess

__all__ = ["GroupLink", "LinkWorld"]


class LinkWorld(Protocol):
    """The link's interface to the simulation."""

    timings: ConnectTimings
    runs: JobRuns

    def reachable(self, worker: str) -> bool: ...

    def say(self, actor: str, event: str, text: str, **counts: int) -> None: ...

    def wake(self, process: int) -> None: ...

    def pause(self) -> int: ...


class GroupLink:
    """Transports requests to the coordinator and replies back, and triggers its deadlines."""

    def __init__(
        self,
        clock: VirtualClock,
        coordinator: Coordinator,
        workers: Mapping[str, Driven],
        world: LinkWorld,
        move: Callable[[Driven, int, Any], None],
    ) -> None:
        #: Workers whose next assignment is dropped.
        self.lost_syncs: set[str] = set()
        self._clock, self._coordinator, self._workers = clock, coordinator, workers
        self._world, self._move = world, move
        self._timer = DeadlineTimer(clock, coordinator.next_deadline, self._expire)

    def ask(self, driven: Driven, token: int, request: JoinRequest | SyncRequest) -> None:
        half = self._world.timings.request_ms // 2
        if not self._world.reachable(driven.process.name):
            self._clock.after(half + 1, lambda: self._move(driven, token, None))
        elif isinstance(request, JoinRequest):
            self._clock.after(half, lambda: self._joins(driven, request))
        else:
            self._clock.after(half, lambda: self._syncs(driven, request))

    def leave(self, member_id: str, reason: str) -> None:
        self._deliver(self._coordinator.leave(self._clock.now, member_id, reason))

    def came_back(self, driven: Driven) -> None:
        if driven.process.membership.member_id not in self._coordinator.members():
            self._cannot_stop(driven.process)

    # --- requests -----------------------------------------------------------------------------------

    def _joins(self, driven: Driven, request: JoinRequest) -> None:
        if driven.alive:
            self._deliver(self._coordinator.join(self._clock.now, request))

    def _syncs(self, driven: Driven, request: SyncRequest) -> None:
        if driven.alive:
            replies = self._coordinator.sync(self._clock.now, request)
            if not replies and request.member_id not in self._coordinator.members():
                self._answer(driven, None)
            self._deliver(replies)

    def _deliver(self, replies: list[AddressedReply]) -> None:
        for reply in replies:
            driven = self._workers.get(reply.worker)
            if driven is not None:
                self._answer(driven, reply.body)
        self._timer.look()

    def _answer(self, driven: Driven, body: Any) -> None:
        name, token = driven.process.name, driven.token
        if isinstance(body, Synced) and name in self.lost_syncs:
            self.lost_syncs.discard(name)
            self._world.say(name, "sync-lost", "never receives its assignment")
            body = Refused("rebalancing")
        if not self._world.reachable(name):
            body = None
        if driven.waits_for_answer:
            half = self._world.timings.request_ms - self._world.timings.request_ms // 2
            # Recordings show that receiving an assignment takes time.
            pause = self._world.pause() if isinstance(body, Synced) else 0
            self._clock.after(half + pause, lambda: self._move(driven, token, body))

    def _expire(self) -> None:
        self._deliver(self._coordinator.expire(self._clock.now))

    # --- heartbeats ---------------------------------------------------------------------------------

    def beat_later(self, driven: Driven) -> None:
        self._clock.after(self._world.timings.heartbeat_interval_ms, lambda: self._beat(driven))

    def _beat(self, driven: Driven) -> None:
        if not driven.alive:
            return
        process = driven.process
        # A waiting worker in a join phase counts as alive; a blocked herder's heartbeats continue.
        hangs = self._clock.now < driven.busy_until
        member_id = process.membership.member_id
        if member_id is not None and (hangs or not driven.waits_for_answer):
            self._ask_how_it_stands(driven, member_id)
        self.beat_later(driven)

    def _ask_how_it_stands(self, driven: Driven, member_id: str) -> None:
        process, now = driven.process, self._clock.now
        if not self._world.reachable(process.name):
            process.lost_coordinator = True
            if now < driven.busy_until:
                self._cannot_stop(process)
            self._world.wake(process.number)
            return
        limit = self._world.timings.rebalance_timeout_ms
        if not driven.polls and polls_too_rarely(now, driven.last_poll, limit):
            # Its membership ends, its jobs do not (KAFKA-16056).
            process.membership.member_id = None
            self._cannot_stop(process)
            self._world.say(process.name, "poll-timeout", "does not poll and leaves; its jobs keep running")
            self.leave(member_id, "does not poll and leaves")
            self._world.wake(process.number)
            return
        answer = self._coordinator.heartbeat(now, member_id)
        if answer == "unknown_member" and not driven.polls:
            # A join phase has removed a blocked herder.
            self._cannot_stop(process)
        if process.membership.heartbeat_answered(answer):
            self._world.wake(process.number)
        self._timer.look()

    def _cannot_stop(self, process: WorkerProcess) -> None:
        """A blocked herder may run jobs of others since its last heartbeat."""
        since = self._clock.now - self._world.timings.heartbeat_interval_ms
        reason = "KAFKA-16056: a worker that does not poll keeps its jobs running"
        self._world.runs.allow(process.number, since, reason)
