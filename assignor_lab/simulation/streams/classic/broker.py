"""Broker of a classic group on the virtual clock: calls of its coordinator, timers, and replies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from assignor_lab.kafka.coordinator import (
    AddressedReply,
    Coordinator,
    CoordinatorState,
    JoinReply,
    JoinRequest,
    SyncRequest,
)
from assignor_lab.simulation.event_log import NO_THREAD
from assignor_lab.simulation.streams.classic.heartbeats import ClassicHeartbeats
from assignor_lab.simulation.streams.classic.members import ClassicMember
from assignor_lab.simulation.streams.world import SimulatedWorld

__all__ = ["Broker"]


class Broker:
    """The broker."""

    def __init__(
        self,
        world: SimulatedWorld,
        coordinator: Coordinator,
        members: Mapping[str, ClassicMember],
        heartbeats: ClassicHeartbeats,
        answered: Callable[[AddressedReply], None],
    ) -> None:
        self._world, self._coordinator, self._members = world, coordinator, members
        self._clock, self._timings = world.clock, world.timings
        self._heartbeats, self._answered = heartbeats, answered
        #: Tasks of each dead member, until the coordinator notices.
        self._left_behind: dict[str, tuple[int, ...]] = {}
        self._phase = self._generation = 0
        self.reason = ""

    # --- requests ---------------------------------------------------------------------------------------

    def join(self, request: JoinRequest, reason: str, adopt: Callable[[Mapping[str, str]], None]) -> None:
        """A member joins for a reason.

        ``adopt`` receives the previous members as soon as this one is a member: Kafka's round trip for an id takes
        milliseconds.
        """
        before = self._coordinator.members()
        if not before:
            self._world.has_members(any_left=True)
        replies = self._coordinator.join(self._clock.now, request)
        adopt(before)
        self._called(replies, before, reason=reason, joins=True)

    def sync(self, request: SyncRequest) -> None:
        self._called(self._coordinator.sync(self._clock.now, request))

    def leave(self, identity: str) -> None:
        before = self._coordinator.members()
        self._called(self._coordinator.leave(self._clock.now, identity, "left the group"), before)

    # --- sessions ---------------------------------------------------------------------------------------

    def leaves_behind(self, member: ClassicMember) -> None:
        if member.id is not None:
            self._left_behind[member.id] = tuple(sorted(member.thread.active))

    def is_back(self, identity: str) -> None:
        self._left_behind.pop(identity, None)

    def session_ends(self, member: ClassicMember, heard_ms: int) -> None:
        if member.id is None:
            return
        self._coordinator.heartbeat(heard_ms, member.id, member.generation)
        self._clock.at(heard_ms + self._timings.session_timeout_ms, partial(self._look, member.id))

    def look_at_session(self, identity: str | None) -> None:
        end = None if identity is None else self._coordinator.session_end_ms(identity)
        if end is not None and identity is not None:
            self._clock.at(end, partial(self._look, identity))

    def look_again(self, identity: str) -> None:
        """A reply that a dead member could not read has extended its session."""
        if identity in self._left_behind:
            self.look_at_session(identity)

    def _look(self, identity: str) -> None:
        now = self._clock.now
        for member in self._members.values():
            if member.is_alive and member.id is not None and not member.is_silent:
                self._coordinator.heartbeat(now, member.id, member.generation)
        before = self._coordinator.members()
        self._called(self._coordinator.expire(now), before)
        self.look_again(identity)

    # --- results of calls ---------------------------------------------------------------------------------

    def _called(
        self,
        replies: list[AddressedReply],
        before: Mapping[str, str] | None = None,
        *,
        reason: str = "",
        joins: bool = False,
    ) -> None:
        """Handle the replies of a call; ``joins``: a member joined, perhaps in another's place."""
        if before is not None:
            self._removed(before, joins=joins)
        for reply in replies:
            self._clock.after(self._timings.request_ms, partial(self._answered, reply))
        if self._coordinator.generation != self._generation:
            self._generation = self._coordinator.generation
            self._joined_without({reply.worker for reply in replies if isinstance(reply.body, JoinReply)})
            self._look_after_sync_phase()
        self._look_after_rebalance(reason)

    def _removed(self, before: Mapping[str, str], *, joins: bool) -> None:
        left = self._coordinator.members()
        gone = [identity for identity in before if identity not in left]
        for identity in gone:
            member = next((each for each in self._members.values() if each.id == identity), None)
            self._world.say(
                "coordinator", "removed", f"{before[identity]} is no member any more",
                thread=NO_THREAD if member is None else member.thread.key,
            )  # fmt: skip
            has_forgotten_it = member is not None and member.has_reset and not member.keeps_id
            if joins and member is not None and member.is_alive and not has_forgotten_it:
                self._heartbeats.tell_of_successor(member)
            elif member is not None:
                self._heartbeats.tell_of_removal(member, identity)
            had = self._left_behind.pop(identity, ())
            self._world.unowned(had if member is None or not member.is_alive else sorted(member.thread.active))
        if gone and not left:
            self._world.has_members(any_left=False)

    def _joined_without(self, joined: Collection[str]) -> None:
        """Static members missed a join phase: they keep their places and last data, and their sessions restart."""
        for consumer, member in self._members.items():
            identity = member.id
            if (
                identity is None
                or consumer in joined
                or not member.is_alive
                or not self._coordinator.is_member(identity)
            ):
                continue
            self._world.say(
                member.thread.instance.name, "missed", f"thread {member.thread.number} has missed the join phase",
                thread=member.thread.key,
            )  # fmt: skip
            self.look_at_session(identity)
            self._heartbeats.tell_of_generation(member, identity)

    def _look_after_rebalance(self, reason: str) -> None:
        phase = self._coordinator.phase_number
        is_new, self._phase = phase != self._phase, phase
        if is_new:
            self.reason = reason
            self._world.say("coordinator", "rebalance", "a rebalance begins: " + self._coordinator.reason)
        if self._coordinator.state is not CoordinatorState.PREPARING:
            return
        for member in self._members.values() if is_new else ():
            if member.is_alive and member.id is not None and not member.is_waiting:
                self._heartbeats.tell_of_rebalance(member)
        deadline = self._coordinator.join_deadline()
        if deadline is not None:
            self._clock.at(deadline, partial(self._join_phase_due, phase))

    def _join_phase_due(self, phase: int) -> None:
        deadline = self._coordinator.join_deadline()
        if phase == self._phase and deadline is not None:
            if deadline <= self._clock.now:
                self._look("")
            else:
                self._clock.at(deadline, partial(self._join_phase_due, phase))

    def _look_after_sync_phase(self) -> None:
        deadline = self._coordinator.sync_deadline()
        if deadline is not None:
            self._clock.at(deadline, partial(self._sync_phase_due, self._generation))

    def _sync_phase_due(self, generation: int) -> None:
        if generation == self._generation and self._coordinator.sync_deadline() is not None:
            self._look("")
