"""Worker's side of the delayed rebalance (KIP-415, ``scheduled.rebalance.max.delay.ms``): time of its rejoin.

The leader's side is ``builtin_assignors/_connect_incremental_steps/delayed_rebalance.py`` (Kafka:
``IncrementalCooperativeAssignor.handleLostAssignments``, ``DistributedHerder``). The leader sends the delay to every
member, and each member rejoins that long after receipt, by its own clock. Until then the jobs of a departed worker stay
unassigned.
"""

from __future__ import annotations

from assignor_lab.kafka.herder.assignment import Assignment

__all__ = ["delay_is_over", "end_of_delay"]


def end_of_delay(assignment: Assignment, now_ms: int) -> int | None:
    """Time at which a worker that receives the assignment now rejoins; ``None`` = no delay."""
    return now_ms + assignment.delay_ms if assignment.delay_ms > 0 else None


def delay_is_over(end_ms: int | None, now_ms: int) -> bool:
    return end_ms is not None and end_ms <= now_ms
