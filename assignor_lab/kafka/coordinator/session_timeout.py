"""Session timeout: a member without requests for this time counts as dead (``session.timeout.ms``)."""

from __future__ import annotations

from collections.abc import Collection

from assignor_lab.kafka.coordinator.members import CoordinatorMember

__all__ = ["next_session_end", "silent_members"]


def silent_members(members: Collection[CoordinatorMember], now_ms: int) -> list[CoordinatorMember]:
    return [
        member
        for member in members
        if not member.is_waiting and now_ms >= member.last_heard_ms + member.session_timeout_ms
    ]


def next_session_end(members: Collection[CoordinatorMember]) -> int | None:
    """Next expiry of a session without further requests; ``None``: no session runs."""
    return min(
        (member.last_heard_ms + member.session_timeout_ms for member in members if not member.is_waiting), default=None
    )
