"""Virtual clock: actions by time; those of one time in the order of scheduling."""

from __future__ import annotations

import heapq
from collections.abc import Callable

__all__ = ["VirtualClock"]


class VirtualClock:
    """Actions by time, in integer milliseconds.

    Args:
        start_ms: Initial time, at least 1: Kafka's assignor takes a deadline of 0 for "none".
    """

    __slots__ = ("_entries", "_sequence", "now")

    def __init__(self, start_ms: int = 1) -> None:
        self.now = max(1, start_ms)
        self._entries: list[tuple[int, int, Callable[[], None]]] = []
        self._sequence = 0

    def at(self, time_ms: int, action: Callable[[], None]) -> None:
        """A past time means now, after the actions due now."""
        self._sequence += 1
        heapq.heappush(self._entries, (max(time_ms, self.now), self._sequence, action))

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        self.at(self.now + delay_ms, action)

    def step(self, until_ms: int) -> bool:
        """Run the next action if it is due by ``until_ms``; otherwise false."""
        if not self._entries or self._entries[0][0] > until_ms:
            return False
        self.now, _, action = heapq.heappop(self._entries)
        action()
        return True
