"""Requests of members to their group's coordinator, and its answers (Kafka: ``GroupMetadataManager``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

__all__ = ["GroupProtocol", "JoinRequest", "Joined", "Refused", "Reply", "SyncRequest", "Synced"]

#: Something that members can speak, with a number ``version``: Connect's ``ConnectProtocol``, or that of Streams.
GroupProtocol = Any


@attrs.frozen
class JoinRequest:
    """A member asks to join, or to join again.

    Args:
        worker: Name of the worker, or of the consumer.
        member_id: Its member id, or ``None``: it wants one.
        offers: What it can speak, the preferred one first, with the metadata for each.
        rebalance_timeout_ms: How long the group waits for it.
        session_timeout_ms: How long nothing need be heard of it.
        instance_id: ``group.instance.id`` of a static member, or ``None``.
    """

    worker: str
    member_id: str | None
    offers: Mapping[GroupProtocol, Any]
    rebalance_timeout_ms: int
    session_timeout_ms: int
    instance_id: str | None = None


@attrs.frozen
class SyncRequest:
    """A member asks for its assignment; the leader brings everybody's."""

    member_id: str
    generation: int
    assignments: Mapping[str, Any] | None = None


@attrs.frozen
class Joined:
    """Answer to a join: the group is complete. Only the leader is told the members and their metadata."""

    member_id: str
    generation: int
    leader_id: str
    protocol: GroupProtocol
    members: Mapping[str, Any] | None


@attrs.frozen
class Synced:
    """Answer to a sync: the member's assignment."""

    generation: int
    protocol: GroupProtocol
    assignment: Any


@attrs.frozen
class Refused:
    """A request failed: ``unknown_member``, ``rebalancing``, ``illegal_generation``, ``inconsistent_protocol``."""

    reason: str


@attrs.frozen
class Reply:
    """An answer on its way to a worker's process."""

    worker: str
    body: Joined | Synced | Refused
