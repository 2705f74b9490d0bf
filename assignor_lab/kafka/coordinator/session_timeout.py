"""Session timeout: a member without requests for this time counts as dead (``session.timeout.ms``)."""

from __future__ import annotations

from collections.abc import Collection

from assignment_api import AssignorLabError
from assignor_lab.kafka.coordinator.members import CoordinatorMember

__all__ = [
    "LEAST_SESSION_MS", "TimeoutsError", "allowed_session", "check_timeouts", "heartbeat_of", "next_session_end",
    "shorter_session", "silent_members",
]  # fmt: skip

#: Brokers' default of ``group.min.session.timeout.ms``.
LEAST_SESSION_MS = 6_000
_SHORT_SESSION_MS = 10_000


class TimeoutsError(AssignorLabError):
    """Kafka refuses a pair of timeouts."""


def check_timeouts(session_ms: int, heartbeat_ms: int, group: str = "") -> None:
    """Refuses what Kafka's clients and brokers refuse (``Heartbeat``, ``GroupCoordinatorConfig``).

    Args:
        group: Prefix of the keys, such as ``streams.`` for those of the brokers.

    Raises:
        TimeoutsError: if the heartbeat interval is not between 0 and the session timeout.
    """
    if not 0 < heartbeat_ms < session_ms:
        raise TimeoutsError(
            f"{group}heartbeat.interval.ms {heartbeat_ms} is not between 0 and {group}session.timeout.ms {session_ms}: "
            "Kafka refuses to start so; a third of the session timeout is usual"
        )


def allowed_session(session_ms: int) -> list[str]:
    """A sentence on what the brokers allow for this session timeout of a classic group; none if they do by default."""
    if session_ms >= LEAST_SESSION_MS:
        return []
    return [f"the brokers allow session.timeout.ms {session_ms}: their group.min.session.timeout.ms is 6000 by default"]


def heartbeat_of(session_ms: int, present_ms: int) -> int:
    """The present interval, at most a third of the session timeout."""
    return min(present_ms, session_ms // 3)


def shorter_session(session_ms: int, heartbeat_ms: int) -> tuple[int, int] | None:
    """A clearly shorter session timeout that brokers allow, and its heartbeat interval; ``None``: there is none."""
    shorter_ms = _SHORT_SESSION_MS if session_ms > _SHORT_SESSION_MS else LEAST_SESSION_MS
    if shorter_ms >= session_ms:
        return None
    return shorter_ms, heartbeat_ms if heartbeat_ms < shorter_ms else heartbeat_of(shorter_ms, heartbeat_ms)


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
