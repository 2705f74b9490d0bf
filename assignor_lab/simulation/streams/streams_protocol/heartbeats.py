"""The heartbeats of a streams group that matter: a member's next one after something has happened.

A member sends one an interval after its last one, whatever that was sent for; of an acknowledgement the interval
begins a little earlier. Those that would change nothing are not played.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from assignor_lab.simulation.streams.streams_protocol.members import Member
from assignor_lab.simulation.streams.world import World

__all__ = ["Heartbeats"]


class Heartbeats:
    """When members send them.

    Args:
        world: The world.
        members: Member id to member; whoever joins or goes changes it.
        is_settled: Whether a member's heartbeats change nothing before something happens.
        send: Has a member send one.
    """

    def __init__(
        self,
        world: World,
        members: Mapping[str, Member],
        is_settled: Callable[[Member], bool],
        send: Callable[[Member], None],
    ) -> None:
        self._clock, self._members, self._is_settled, self._send = world.clock, members, is_settled, send
        self.every_ms = world.timings.streams_heartbeat_interval_ms + world.timings.heartbeat_late_us / 1000

    def next_ms(self, member: Member) -> int:
        """When a member's next one comes."""
        return member.next_heartbeat_ms(self._clock.now, self.every_ms)

    def last_ms(self, member: Member) -> int:
        """When a member's latest one came that counts."""
        return member.last_heartbeat_ms(self._clock.now, self.every_ms)

    def arm_all(self) -> None:
        """Something has happened: whoever is not settled is heard of with the next one."""
        for member in self._members.values():
            self.arm(member)

    def arm(self, member: Member) -> None:
        """A member that lives and is not settled is heard of with its next one."""
        if member.is_armed or member.is_dead(self._members) or self._is_settled(member):
            return
        member.is_armed = True
        self._clock.at(self.next_ms(member), partial(self._beat, member, member.armed))

    def sent(self, member: Member, counted_ms: int | None) -> None:
        """A member has sent one, whatever for: the next one comes an interval from now, or from ``counted_ms`` on."""
        member.sent_ms = self._clock.now
        member.counted_ms = self._clock.now if counted_ms is None else counted_ms
        member.armed += 1
        member.is_armed = False

    def _beat(self, member: Member, armed: int) -> None:
        if armed == member.armed:
            member.is_armed = False
            if not member.thread.instance.is_silent and not member.has_reset:
                self._send(member)
