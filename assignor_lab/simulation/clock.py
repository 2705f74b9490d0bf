"""Virtual clock: actions by time; those of one time in the order of scheduling."""

from __future__ import annotations

import heapq
from collections.abc import Callable

__all__ = ["DeadlineTimer", "VirtualClock"]


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


class DeadlineTimer:
    """Runs an action at the next deadline, which may move to an earlier time while the timer waits.

    Args:
        next_deadline: The present one; ``None``: there is none.
        action: Looks at its own time, because a deadline may have moved to a later one.
    """

    __slots__ = ("_action", "_clock", "_deadline", "_next_deadline")

    def __init__(
        self, clock: VirtualClock, next_deadline: Callable[[], int | None], action: Callable[[], None]
    ) -> None:
        self._clock, self._next_deadline, self._action = clock, next_deadline, action
        self._deadline: int | None = None

    def look(self) -> None:
        """Waits for the next deadline, unless the timer already waits for an earlier one."""
        deadline = self._next_deadline()
        if deadline is None or (self._deadline is not None and self._deadline <= deadline):
            return
        self._deadline = deadline

        def due() -> None:
            if self._deadline == deadline:
                self._deadline = None
                self._action()

        self._clock.at(deadline, due)
