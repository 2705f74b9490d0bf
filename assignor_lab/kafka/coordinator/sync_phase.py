"""Sync phase of a generation: the time limit for its members' SyncGroup requests.

From the end of the join phase each member has the longest ``rebalance.timeout.ms``. Members without a request by then
are removed, static ones too, and the group rebalances. If a static member returns under another id, its request does
not count for the former id. So the group rebalances because of that id (Kafka: ``GroupMetadataManager``,
``schedulePendingSync`` and ``expirePendingSync``; ``ClassicGroup.replaceStaticMember``).
"""

from __future__ import annotations

from collections.abc import Collection

from assignor_lab.kafka.coordinator.members import CoordinatorMember

__all__ = ["SyncPhase"]


class SyncPhase:
    """The present sync phase, or none."""

    def __init__(self) -> None:
        self._pending: set[str] = set()
        self._deadline_ms = 0

    def begin(self, now: int, members: Collection[CoordinatorMember]) -> None:
        """Start the phase: each member of the new generation must send a request."""
        self._pending = {member.id for member in members}
        self._deadline_ms = now + max((member.rebalance_timeout_ms for member in members), default=0)

    def asked(self, member_id: str) -> None:
        """Stop waiting for a member: it has sent its request, or has left."""
        self._pending.discard(member_id)

    def end(self) -> None:
        """End the phase: a rebalance has begun."""
        self._pending.clear()

    @property
    def deadline_ms(self) -> int | None:
        """Time at which members without a request are removed; ``None``: all have sent one."""
        return self._deadline_ms if self._pending else None

    def late(self, now: int) -> frozenset[str]:
        """Ids without a request at the deadline, present members or not."""
        return frozenset(self._pending) if now >= self._deadline_ms else frozenset()
