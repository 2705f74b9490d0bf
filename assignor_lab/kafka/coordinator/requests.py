"""Requests of members to their group's coordinator, and its replies (Kafka: ``GroupMetadataManager``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

__all__ = ["GroupProtocol", "JoinRequest", "JoinReply", "Refused", "AddressedReply", "SyncRequest", "Synced"]

GroupProtocol = Any


@attrs.frozen
class JoinRequest:
    """A member's request to join or rejoin.

    Args:
        member_id: Its member id, or ``None``: it needs one.
        reason: Its cause to join again (KIP-800); empty: not stated.
    """

    worker: str
    member_id: str | None
    offers: Mapping[GroupProtocol, Any]
    rebalance_timeout_ms: int
    session_timeout_ms: int
    instance_id: str | None = None
    reason: str = ""


@attrs.frozen
class SyncRequest:
    """A member's request for its assignment; the leader's has all assignments."""

    member_id: str
    generation: int
    assignments: Mapping[str, Any] | None = None


@attrs.frozen
class JoinReply:
    """Reply to a join: the group is complete. Only the leader receives the members and their metadata."""

    member_id: str
    generation: int
    leader_id: str
    protocol: GroupProtocol
    members: Mapping[str, Any] | None


@attrs.frozen
class Synced:
    """Reply to a sync: the member's assignment."""

    generation: int
    protocol: GroupProtocol
    assignment: Any


@attrs.frozen
class Refused:
    """A request failed: ``unknown_member``, ``rebalancing``, ``illegal_generation``, ``inconsistent_protocol``."""

    reason: str


@attrs.frozen
class AddressedReply:
    """A reply with its destination, a worker's process."""

    worker: str
    body: JoinReply | Synced | Refused
