"""The end of the config log: how far members of a round have to have read it.

Kafka: ``WorkerCoordinator``, ``DistributedHerder.handleRebalanceCompleted``.

All members of a round work by one place in the log. The leader reads on to where the furthest member is, or the round
fails; a member reads on to where the leader is, or joins again.
"""

from __future__ import annotations

from assignor_lab.kafka.herder.assignment import Assignment

__all__ = ["must_read", "offset_of_round"]


def offset_of_round(furthest: int, joined_with: int, read_on_to: int) -> int | None:
    """The place by which a leader decides, and which it tells the members.

    Args:
        furthest: How far the furthest member had read, the leader among them.
        joined_with: How far the leader had.
        read_on_to: How far it has read since.

    Returns:
        The place, or ``None``: the leader has not read far enough, and the round fails for all.
    """
    if joined_with >= furthest:
        # Even where the leader has read on since: it decides by what it joined with.
        return furthest
    return read_on_to if read_on_to >= furthest else None


def must_read(told: Assignment, member_id: str | None, offset: int) -> bool:
    """Whether a worker has to read on before it can carry out an assignment.

    Args:
        told: The assignment.
        member_id: The worker's.
        offset: How far it has read.
    """
    return offset < told.offset or (told.failed and told.leader_id == member_id)
