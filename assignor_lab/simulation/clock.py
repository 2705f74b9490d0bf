"""The virtual clock: what happens when, in one order.

Entries of one moment happen in the order in which they were made, so that a run depends on its input and seed alone.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

__all__ = ["VirtualClock"]


class VirtualClock:
    """Things to do, by time. Milliseconds, whole numbers; nothing ever waits for a real clock.

    Args:
        start_ms: What the clock shows at first, at least 1: Kafka's assignor takes a deadline of 0 for "none".
    """

    __slots__ = ("_entries", "_sequence", "now")

    def __init__(self, start_ms: int = 1) -> None:
        self.now = max(1, start_ms)
        self._entries: list[tuple[int, int, Callable[[], None]]] = []
        self._sequence = 0

    def at(self, time_ms: int, action: Callable[[], None]) -> None:
        """Has ``action`` called at ``time_ms``; a moment that has passed means now, after what is due now."""
        self._sequence += 1
        heapq.heappush(self._entries, (max(time_ms, self.now), self._sequence, action))

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Has ``action`` called in ``delay_ms``."""
        self.at(self.now + delay_ms, action)

    def step(self, until_ms: int) -> bool:
        """Does the next thing if it is due by ``until_ms``; false if there is none."""
        if not self._entries or self._entries[0][0] > until_ms:
            return False
        self.now, _, action = heapq.heappop(self._entries)
        action()
        return True
