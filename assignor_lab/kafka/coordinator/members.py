"""A member of a group from the view of the coordinator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignor_lab.kafka.coordinator.requests import GroupProtocol

__all__ = ["CoordinatorMember"]


@attrs.define
class CoordinatorMember:
    """A member of a group.

    Args:
        rebalance_timeout_ms: Longest wait of the group for its rejoin.
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
        """True if it waits for a reply; until then it need not send heartbeats."""
        return self.awaiting_join or self.awaiting_sync
