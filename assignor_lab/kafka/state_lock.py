"""Locks of task directories: the wait of a thread if another thread of its process holds the lock.

Kafka tries again in each loop of the thread, after a random time that doubles with each failure and is drawn again in
each loop (``TaskManager.BackoffRecord``: 1 s, times two, at most 10 s, plus or minus half of it).
"""

from __future__ import annotations

__all__ = ["lock_retry_ms"]

_INITIAL_MS = 1_000
_MOST_MS = 10_000
_JITTER = 0.5


def lock_retry_ms(failures: int, poll_ms: int = 100) -> int:
    """Wait of a thread until its next attempt, ms: the median of the random times."""
    usual = min(_MOST_MS, _INITIAL_MS * 2 ** min(failures, 10))
    shortest, spread = usual * (1 - _JITTER), usual * 2 * _JITTER
    waited, still_waiting = shortest, 1.0
    while still_waiting > 0.5:
        waited += poll_ms
        still_waiting *= 1 - (waited - shortest) / spread
    return int(waited)
