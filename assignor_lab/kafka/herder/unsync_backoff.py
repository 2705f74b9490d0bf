"""The backoff of a worker that cannot read the config log (``worker.unsync.backoff.ms``).

It has left its group and keeps its work for a while. Under ``eager`` it waits ``worker.unsync.backoff.ms``; under the
other protocols growing parts of the longest delay of a rebalance, and when five were not enough, it stops everything.
"""

from __future__ import annotations

import attrs

from assignment_api.connect import ConnectProtocol

__all__ = ["UnsyncBackoff"]

_TRIES = 5


@attrs.define
class UnsyncBackoff:
    """Attempts that are left."""

    tries: int = _TRIES

    def read(self) -> None:
        """The config log was read."""
        self.tries = _TRIES

    def next_pause_ms(self, protocol: ConnectProtocol | None, max_delay_ms: int, unsync_backoff_ms: int) -> int | None:
        """How long a worker waits after another failure; ``None``: it waits no longer and stops everything.

        Args:
            protocol: What its group spoke.
            max_delay_ms: ``scheduled.rebalance.max.delay.ms``.
            unsync_backoff_ms: ``worker.unsync.backoff.ms``.
        """
        if protocol is ConnectProtocol.EAGER:
            return unsync_backoff_ms
        if self.tries <= 0:
            self.tries = _TRIES
            return None
        pause = max_delay_ms // 10 // self.tries
        self.tries -= 1
        return pause
