"""Heartbeats of a classic group: their results for members, and the members' last signs of life.

Their effects are computed on demand: all members of a generation send at the same times. A busy thread's heartbeats
continue. A suspended process sends none, nor does a joining member before its reply (Kafka:
``AbstractCoordinator.HeartbeatThread``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from assignor_lab.kafka.coordinator import Coordinator, CoordinatorState
from assignor_lab.simulation.streams.classic.members import ClassicMember
from assignor_lab.simulation.streams.world import SimulatedWorld

__all__ = ["ClassicHeartbeats"]


class ClassicHeartbeats:
    """The heartbeats of a group's members."""

    def __init__(
        self,
        world: SimulatedWorld,
        coordinator: Coordinator,
        join: Callable[[ClassicMember, str], None],
        lost: Callable[[ClassicMember, str], None],
        close: Callable[[ClassicMember], None],
    ) -> None:
        self._world, self._coordinator = world, coordinator
        self._clock, self._timings = world.clock, world.timings
        self._join, self._lost, self._close = join, lost, close
        self._every_ms = self._timings.heartbeat_interval_ms + self._timings.heartbeat_late_us / 1000

    def heard_ms(self, member: ClassicMember) -> int:
        now = self._clock.now
        last_heard_ms = member.last_heartbeat_ms(now, self._every_ms)
        if member.thread.running and not self._world.episode.eos:
            # A transaction's offsets renew no session (Kafka: OffsetMetadataManager.validateTransactionalOffsetCommit).
            last_heard_ms = max(last_heard_ms, member.last_commit_ms(now, self._timings.commit_interval_ms))
        return last_heard_ms

    # --- a rebalance ------------------------------------------------------------------------------------

    def tell_of_rebalance(self, member: ClassicMember) -> None:
        """Schedule REBALANCE_IN_PROGRESS for the next heartbeat, if the rebalance still lasts then."""
        self._clock.at(self._next_ms(member), partial(self._hears_of_rebalance, member, self._coordinator.phase_number))

    def _next_ms(self, member: ClassicMember) -> int:
        return member.next_heartbeat_ms(self._clock.now, self._every_ms)

    def _hears_of_rebalance(self, member: ClassicMember, phase: int) -> None:
        goes_on = self._coordinator.state is CoordinatorState.PREPARING and phase == self._coordinator.phase_number
        hears = member.is_alive and _are_sent(member) and member.generation == self._coordinator.generation
        if goes_on and hears and not member.is_waiting:
            self.rejoin(member)

    def rejoin(self, member: ClassicMember) -> None:
        if not self._world.deferred(member.thread, partial(self.rejoin, member)):
            self._clock.after(self._joins_after_ms(member), partial(self._join, member, "group is rebalancing"))

    def _joins_after_ms(self, member: ClassicMember) -> int:
        return self._timings.poll_ms + self._world.next_poll_ms(member.thread)

    # --- an old generation --------------------------------------------------------------------------------

    def tell_of_generation(self, member: ClassicMember, identity: str) -> None:
        """Schedule ILLEGAL_GENERATION for a member that missed the join phase."""
        if _are_sent(member):
            self._clock.at(self._next_ms(member), partial(self._hears_of_generation, member, identity))

    def _hears_of_generation(self, member: ClassicMember, identity: str) -> None:
        is_old = member.id == identity and member.generation != self._coordinator.generation
        if member.is_alive and is_old and _are_sent(member) and self._coordinator.is_member(identity):
            member.has_reset = member.keeps_id = member.is_silent = True
            self._clock.after(self._joins_after_ms(member), partial(self._join, member, ""))

    # --- a removal ------------------------------------------------------------------------------------------

    def tell_of_removal(self, member: ClassicMember, identity: str) -> None:
        """Schedule UNKNOWN_MEMBER_ID for a living member without open requests.

        A suspended member learns it when it continues, a waiting one from its reply.
        """
        is_busy = member.thread.stalled_until_ms is not None
        if member.is_alive and _are_sent(member) and (is_busy or not member.is_waiting):
            beat = self._next_ms(member)
            if not is_busy:
                self._world.say(
                    member.thread.instance.name, "zombie",
                    f"thread {member.thread.number} is no member, and does not know",
                    thread=member.thread.key, until_ms=beat - self._world.begin_ms,
                )  # fmt: skip
            self._clock.at(beat, partial(self._hears_of_removal, member, identity))

    def _hears_of_removal(self, member: ClassicMember, identity: str) -> None:
        if not _are_sent(member) or member.id != identity:
            return
        if member.thread.stalled_until_ms is not None:
            member.has_reset = True
        elif not member.is_waiting:
            self._lost(member, identity)

    # --- a successor ----------------------------------------------------------------------------------------

    def tell_of_successor(self, member: ClassicMember) -> None:
        """Schedule FENCED_INSTANCE_ID for a member whose ``group.instance.id`` has a new owner."""
        at_ms = self._clock.now + self._timings.request_ms
        member.is_replaced = True
        if not member.is_waiting:
            at_ms = self._next_ms(member)
        # Any other step would send a request, with the same reply.
        member.is_waiting = True
        member.scheduled += 1
        name, stalled = member.thread.instance.name, member.thread.stalled_until_ms
        at_ms = at_ms if stalled is None else max(at_ms, stalled)
        self._world.say(
            name, "replaced", f"thread {member.thread.number} has lost its instance id to another and does not know",
            thread=member.thread.key, until_ms=at_ms - self._world.begin_ms,
        )  # fmt: skip
        self._clock.at(at_ms, partial(self._fenced, member))

    def _fenced(self, member: ClassicMember) -> None:
        """Fatal error: Streams' default handler closes the whole client."""
        name = member.thread.instance.name
        if not self._world.deferred(member.thread, partial(self._fenced, member)) and member.is_alive:
            self._world.say(name, "fenced", f"{name} is fenced, and closes")
            self._close(member)


def _are_sent(member: ClassicMember) -> bool:
    stands_still = member.is_silent or member.thread.instance.is_silent
    return not (stands_still or member.has_reset or member.is_joining or member.is_replaced)
