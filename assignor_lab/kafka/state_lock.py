"""Locks of task directories: how long a thread waits that found one locked by another thread of its process.

Kafka tries again in each loop of the thread, but not before a time that doubles with each failure and is drawn anew in
each loop (``TaskManager.BackoffRecord``: 1 s, times two, at most 10 s, half of it more or less).
"""

from __future__ import annotations

__all__ = ["lock_retry_ms"]

_INITIAL_MS = 1_000
_MOST_MS = 10_000
_JITTER = 0.5


def lock_retry_ms(failures: int, poll_ms: int = 100) -> int:
    """How long a thread waits until it tries again, in milliseconds: the median of what it draws.

    Args:
        failures: How often it has failed, from 1.
        poll_ms: How long one loop of it takes (``poll.ms``, where no input arrives).
    """
    usual = min(_MOST_MS, _INITIAL_MS * 2 ** min(failures, 10))
    shortest, spread = usual * (1 - _JITTER), usual * 2 * _JITTER
    waited, still_waiting = shortest, 1.0
    while still_waiting > 0.5:
        waited += poll_ms
        still_waiting *= 1 - (waited - shortest) / spread
    return int(waited)
