"""Poll timeout: a worker with a busy herder leaves its group after this time (``rebalance.timeout.ms``).

In Kafka its jobs keep running while other workers receive them, too (KAFKA-16056).
"""

from __future__ import annotations

__all__ = ["polls_too_rarely"]


def polls_too_rarely(now_ms: int, last_poll_ms: int, rebalance_timeout_ms: int) -> bool:
    """True if a heartbeat must end the membership; ``last_poll_ms``: time of the herder's last poll of the group."""
    return now_ms - last_poll_ms > rebalance_timeout_ms
