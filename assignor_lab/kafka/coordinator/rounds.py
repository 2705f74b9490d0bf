"""A rebalance as the coordinator saw it."""

from __future__ import annotations

import attrs

from assignor_lab.kafka.coordinator.requests import GroupProtocol

__all__ = ["Round"]


@attrs.define
class Round:
    """A rebalance.

    Args:
        generation: Number of the generation that it led to.
        reasons: What set it off, in order.
        prepared_ms: When it began.
        joined_ms: When all had joined.
        members: Members' ids.
        leader: Name of the leading worker, or consumer.
        protocol: What the members agreed on.
        assigned_ms: When the leader's assignment had come.
        delay_ms: The delay in the assignments.
        assigned: Jobs that were assigned.
        revoked: Jobs that were revoked.
        mismatch: The leader had not read the config topic as far as a member.
        done_ms: When the last worker had started what it was assigned.
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
