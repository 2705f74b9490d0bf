"""Backoff of a worker that cannot read the config log (``worker.unsync.backoff.ms``).

It has left its group and keeps its jobs for a while. Under ``eager`` it waits ``worker.unsync.backoff.ms``. Under the
other protocols it waits growing fractions of the longest delay of a rebalance.
"""

from __future__ import annotations

import attrs

from assignment_api.connect import ConnectProtocol

__all__ = ["UnsyncBackoff"]

_TRIES = 5


@attrs.define
class UnsyncBackoff:
    """Remaining attempts."""

    tries: int = _TRIES

    def read(self) -> None:
        self.tries = _TRIES

    def next_pause_ms(self, protocol: ConnectProtocol | None, max_delay_ms: int, unsync_backoff_ms: int) -> int | None:
        """Wait of a worker after another failure, ms; ``None``: it stops all jobs without waiting."""
        if protocol is ConnectProtocol.EAGER:
            return unsync_backoff_ms
        if self.tries <= 0:
            self.tries = _TRIES
            return None
        pause = max_delay_ms // 10 // self.tries
        self.tries -= 1
        return pause
