"""The worker's side of the delayed rebalance (KIP-415, ``scheduled.rebalance.max.delay.ms``): when it joins again.

The leader's side, who waits for how long, is ``builtin_assignors/_connect_incremental_steps/delayed_rebalance.py``
(Kafka: ``IncrementalCooperativeAssignor.handleLostAssignments``, ``DistributedHerder``). It tells every member, and
each member joins again so long after it was told, by its own clock; until then nobody is given the jobs of who has
gone.
"""

from __future__ import annotations

from assignor_lab.kafka.herder.assignment import Assignment

__all__ = ["delay_is_over", "end_of_delay"]


def end_of_delay(told: Assignment, now_ms: int) -> int | None:
    """When a worker joins again that was told this now; ``None`` = there is no delay."""
    return now_ms + told.delay_ms if told.delay_ms > 0 else None


def delay_is_over(end_ms: int | None, now_ms: int) -> bool:
    """Whether a delay, if there is one, is over."""
    return end_ms is not None and end_ms <= now_ms
