"""The session timeout: a member of which nothing is heard for too long is taken for dead (``session.timeout.ms``)."""

from __future__ import annotations

from collections.abc import Collection

from assignor_lab.kafka.coordinator.members import Member

__all__ = ["next_session_end", "silent_members"]


def silent_members(members: Collection[Member], now_ms: int) -> list[Member]:
    """Members whose session is over."""
    return [
        member
        for member in members
        if not member.is_waiting and now_ms >= member.last_heard_ms + member.session_timeout_ms
    ]


def next_session_end(members: Collection[Member]) -> int | None:
    """When the next session is over, if nothing is heard; ``None``: no session runs."""
    return min(
        (member.last_heard_ms + member.session_timeout_ms for member in members if not member.is_waiting), default=None
    )
