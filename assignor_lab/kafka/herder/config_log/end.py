"""End of the config log: the position that members of a round must reach.

Kafka: ``WorkerCoordinator``, ``DistributedHerder.handleRebalanceCompleted``.

All members of a round use the same position in the log. The leader reads up to the furthest member's position, or the
round fails. A member reads up to the leader's position, or rejoins.
"""

from __future__ import annotations

from assignor_lab.kafka.herder.assignment import Assignment

__all__ = ["must_read", "offset_of_round"]


def offset_of_round(furthest: int, joined_with: int, read_on_to: int) -> int | None:
    """The position on which a leader decides, and which it sends to the members.

    Args:
        furthest: Position of the furthest member, the leader included.

    Returns:
        The position, or ``None``: the leader has not read far enough, and the round fails for all.
    """
    if joined_with >= furthest:
        # Even if the leader has read more since: its position when it joined counts.
        return furthest
    return read_on_to if read_on_to >= furthest else None


def must_read(assignment: Assignment, member_id: str | None, offset: int) -> bool:
    """True if a worker must read more before it can carry out an assignment.

    Args:
        member_id: The worker's.
    """
    return offset < assignment.offset or (assignment.failed and assignment.leader_id == member_id)
