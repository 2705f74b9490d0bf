"""A member of a group as the coordinator knows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignor_lab.kafka.coordinator.requests import GroupProtocol

__all__ = ["Member"]


@attrs.define
class Member:
    """A member of a group.

    Args:
        id: Its member id.
        worker: Name of its worker, or of its consumer.
        offers: What it can speak, the preferred one first, with the metadata for each.
        rebalance_timeout_ms: How long the group waits for it to join again.
        session_timeout_ms: How long nothing need be heard of it.
        last_heard_ms: When something was heard of it.
        awaiting_join: It has asked to join and has no answer yet.
        awaiting_sync: It has asked for its assignment and has no answer yet.
        assignment: What the leader gave it.
        instance_id: ``group.instance.id`` of a static member, or ``None``.
    """

    id: str
    worker: str
    offers: Mapping[GroupProtocol, Any]
    rebalance_timeout_ms: int
    session_timeout_ms: int
    last_heard_ms: int
    awaiting_join: bool = False
    awaiting_sync: bool = False
    assignment: Any = None
    instance_id: str | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for an answer: while it does, it need not say that it lives."""
        return self.awaiting_join or self.awaiting_sync
