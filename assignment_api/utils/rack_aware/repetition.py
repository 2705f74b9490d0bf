"""Detects repeating falls of distances."""

from __future__ import annotations

from operator import sub

__all__ = ["UNBOUNDED", "FallHistory"]

#: More than any graph has sweeps.
UNBOUNDED = 1 << 60

MAX_PERIOD = 64


class FallHistory:
    """Snapshots of distances after each sweep.

    Args:
        pause: Sweeps without a search for a period.
    """

    __slots__ = ("_pause", "_snapshots", "_sums")

    def __init__(self, pause: int = 0) -> None:
        self._pause = pause
        self._snapshots: list[list[int]] = []
        self._sums: list[int] = []

    def add(self, snapshot: list[int]) -> None:
        """Record a snapshot, which must not change any more."""
        self._snapshots.append(snapshot)
        self._sums.append(sum(snapshot))
        if len(self._snapshots) > 2 * MAX_PERIOD + 1:
            del self._snapshots[0], self._sums[0]

    def period(self) -> tuple[int, list[int]] | None:
        """Shortest period with the same falls twice in a row, and the falls; or ``None``."""
        if self._pause > 0:
            self._pause -= 1
            return None
        sums = self._sums
        for length in range(1, (len(sums) - 1) // 2 + 1):
            if sums[-1] - sums[-1 - length] != sums[-1 - length] - sums[-1 - 2 * length]:
                continue
            now, before, earlier = (self._snapshots[-1 - turns * length] for turns in range(3))
            falls = list(map(sub, now, before))
            if falls == list(map(sub, before, earlier)):
                return length, falls
        return None
