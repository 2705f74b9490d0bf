"""The sync phase of a generation: how long its members may take to ask for their assignments.

From the end of the join phase each member has the longest ``rebalance.timeout.ms``; those who have not asked by then
are removed, static ones too, and the group rebalances. A static member that is back under another id does not ask in
the name of the one before it, so that the group rebalances for that one's sake (Kafka: ``GroupMetadataManager``,
``schedulePendingSync`` and ``expirePendingSync``; ``ClassicGroup.replaceStaticMember``).
"""

from __future__ import annotations

from collections.abc import Collection

from assignor_lab.kafka.coordinator.members import Member

__all__ = ["SyncPhase"]


class SyncPhase:
    """The present sync phase, or none."""

    def __init__(self) -> None:
        self._pending: set[str] = set()
        self._deadline_ms = 0

    def begin(self, now: int, members: Collection[Member]) -> None:
        """A generation has begun: each of its members is to ask."""
        self._pending = {member.id for member in members}
        self._deadline_ms = now + max((member.rebalance_timeout_ms for member in members), default=0)

    def asked(self, member_id: str) -> None:
        """A member has asked, or is none any more."""
        self._pending.discard(member_id)

    def end(self) -> None:
        """A rebalance has begun: nobody is waited for."""
        self._pending.clear()

    @property
    def deadline_ms(self) -> int | None:
        """When those who have not asked are removed; ``None``: all have."""
        return self._deadline_ms if self._pending else None

    def late(self, now: int) -> frozenset[str]:
        """Ids of those who are late, members or not any more."""
        return frozenset(self._pending) if now >= self._deadline_ms else frozenset()
