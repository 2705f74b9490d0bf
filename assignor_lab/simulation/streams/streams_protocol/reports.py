"""Offsets known to the broker of a streams group, and times of new reports."""

from __future__ import annotations

from collections.abc import Mapping

from assignor_lab.simulation.streams.streams_protocol.members import StreamsProtocolMember
from assignor_lab.simulation.streams.streams_protocol.offsets import Reported, reported
from assignor_lab.simulation.streams.world import SimulatedWorld

__all__ = ["Reports"]


class Reports:
    """Reports of members, which the broker keeps in memory only.

    Args:
        are_shown: Brokers of the release receive offsets.
        warm_lag: Lag in records at which a warm-up is complete; ``None``: unused by brokers.
    """

    def __init__(
        self, world: SimulatedWorld, stateful: frozenset[int], *, are_shown: bool, warm_lag: int | None
    ) -> None:
        self._world, self._stateful, self._are_shown, self._warm_lag = world, stateful, are_shown, warm_lag
        self._reported: dict[str, Reported] = {}

    @property
    def offsets(self) -> Mapping[str, Mapping[int, int]]:
        return {member: report.offsets for member, report in self._reported.items()}

    @property
    def ends(self) -> Mapping[str, Mapping[int, int]]:
        """Member to changelog ends of its restoring tasks and copies."""
        return {member: report.ends for member, report in self._reported.items()}

    def report(self, member: StreamsProtocolMember) -> bool:
        """No effect if the broker receives no offsets."""
        if self._are_shown:
            self._reported[member.id] = self._offsets_of(member)
            member.reported_ms = self._world.clock.now
        return self._are_shown

    def forget(self, member: StreamsProtocolMember) -> None:
        self._reported.pop(member.id, None)

    def is_due(self, member: StreamsProtocolMember) -> bool:
        """True if a member would have reported since, without changes."""
        return self._world.clock.now - member.reported_ms >= self._world.timings.task_offset_interval_ms

    def has_news(self, member: StreamsProtocolMember) -> bool:
        """True if a heartbeat brings offsets without a changed task: periodically, or at a complete warm-up."""
        if not self._are_shown:
            return False
        if self.is_due(member):
            return True
        if self._warm_lag is None or not member.assigned.warmup:
            return False
        now = self._offsets_of(member)
        return any(
            now.ends[task] - now.offsets[task] <= self._warm_lag for task in member.assigned.warmup if task in now.ends
        )

    def _offsets_of(self, member: StreamsProtocolMember) -> Reported:
        world = self._world
        cleanup_ms = world.timings.state_cleanup_delay_ms
        return reported(member.thread, self._stateful, world.end_offset, world.clock.now, cleanup_ms)
