"""The delayed rebalance, as a worker keeps to it (``scheduled.rebalance.max.delay.ms``, reference 3.4, 6.4).

How long the delay is, the leader's assignor decides: nobody is given the jobs of a worker that has gone until it is
over. It tells every member, and each member joins again so long after it was told, by its own clock.
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
