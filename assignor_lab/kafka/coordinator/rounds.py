"""A rebalance from the view of the coordinator."""

from __future__ import annotations

import attrs

from assignor_lab.kafka.coordinator.requests import GroupProtocol

__all__ = ["Round"]


@attrs.define
class Round:
    """A rebalance.

    Args:
        assigned: Jobs that were assigned.
        mismatch: The leader had not read the config topic as far as a member.
    """

    generation: int
    reasons: tuple[str, ...]
    prepared_ms: int
    joined_ms: int
    members: tuple[str, ...]
    leader: str
    protocol: GroupProtocol
    assigned_ms: int | None = None
    delay_ms: int = 0
    assigned: int = 0
    revoked: int = 0
    mismatch: bool = False
    done_ms: int | None = None
