"""Relevant heartbeats of a streams group: a member's next one after an event.

The interval begins with its last one of any kind, or a little earlier after an acknowledgement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from assignor_lab.simulation.streams.streams_protocol.members import StreamsProtocolMember
from assignor_lab.simulation.streams.world import SimulatedWorld

__all__ = ["StreamsProtocolHeartbeats"]


class StreamsProtocolHeartbeats:
    """Times of the members' heartbeats.

    Args:
        is_settled: Whether a member's heartbeats have no effect until the next event.
    """

    def __init__(
        self,
        world: SimulatedWorld,
        members: Mapping[str, StreamsProtocolMember],
        is_settled: Callable[[StreamsProtocolMember], bool],
        send: Callable[[StreamsProtocolMember], None],
    ) -> None:
        self._clock, self._members, self._is_settled, self._send = world.clock, members, is_settled, send
        self.every_ms = world.timings.streams_heartbeat_interval_ms + world.timings.heartbeat_late_us / 1000

    def next_ms(self, member: StreamsProtocolMember) -> int:
        return member.next_heartbeat_ms(self._clock.now, self.every_ms)

    def last_ms(self, member: StreamsProtocolMember) -> int:
        return member.last_heartbeat_ms(self._clock.now, self.every_ms)

    def arm_all(self) -> None:
        for member in self._members.values():
            self.arm(member)

    def arm(self, member: StreamsProtocolMember) -> None:
        if member.is_armed or member.is_dead(self._members) or self._is_settled(member):
            return
        member.is_armed = True
        self._clock.at(self.next_ms(member), partial(self._beat, member, member.armed))

    def sent(self, member: StreamsProtocolMember, counted_ms: int | None) -> None:
        """The next one comes an interval after now, or after ``counted_ms``."""
        member.sent_ms = self._clock.now
        member.counted_ms = self._clock.now if counted_ms is None else counted_ms
        member.armed += 1
        member.is_armed = False

    def _beat(self, member: StreamsProtocolMember, armed: int) -> None:
        if armed == member.armed:
            member.is_armed = False
            if not member.thread.instance.is_silent and not member.has_reset:
                self._send(member)
