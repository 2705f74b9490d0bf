"""Pauses between retries of configuring a connector's tasks (Kafka: ``DistributedConfig``)."""

from __future__ import annotations

__all__ = ["FIRST_PAUSE_MS", "LONGEST_PAUSE_MS", "next_pause_ms"]

#: Kafka's figures.
FIRST_PAUSE_MS, LONGEST_PAUSE_MS = 250, 60_000


def next_pause_ms(pause_ms: int, longest_ms: int = LONGEST_PAUSE_MS) -> int:
    """The pause after this one: twice as long, up to the longest. Retries never end."""
    return min(pause_ms * 2, longest_ms)
