"""The clock of a cluster: it shows the epoch, and never goes back."""

from __future__ import annotations

import time

__all__ = ["Clock"]


class Clock:
    """Milliseconds of the epoch, counted on from the start, so that setting the machine's clock moves no deadline."""

    def __init__(self) -> None:
        self._offset_ns = time.time_ns() - time.monotonic_ns()

    def now_ms(self) -> int:
        return (time.monotonic_ns() + self._offset_ns) // 1_000_000
