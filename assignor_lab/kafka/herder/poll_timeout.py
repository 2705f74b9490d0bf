"""The poll timeout: a worker whose herder is busy for too long leaves its group (``rebalance.timeout.ms``).

In Kafka its work goes on, and others are given it, too (KAFKA-16056).
"""

from __future__ import annotations

__all__ = ["polls_too_rarely"]


def polls_too_rarely(now_ms: int, last_poll_ms: int, rebalance_timeout_ms: int) -> bool:
    """Whether a worker leaves, seen by its heartbeats; ``last_poll_ms``: when its herder last asked for the group."""
    return now_ms - last_poll_ms > rebalance_timeout_ms
