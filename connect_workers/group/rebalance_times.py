"""Times of rebalances: how many a worker has completed, and how long they took (Kafka: ``ConnectMetricsRegistry``)."""

from __future__ import annotations

import attrs

__all__ = ["RebalanceTimes"]


@attrs.define
class RebalanceTimes:
    """From an assignment until its work was started.

    Unlike Kafka's, these count a round once, also while a delay is scheduled.

    Args:
        begun_ms: When the last assignment was received; ``None`` once its work is started.
        last_ms: When the last one was completed.
        total_ms: All together.
    """

    begun_ms: int | None = None
    count: int = 0
    last_ms: int | None = None
    longest_ms: int = 0
    total_ms: int = 0

    def completed(self, now_ms: int) -> None:
        if self.begun_ms is None:
            return
        took = now_ms - self.begun_ms
        self.count += 1
        self.total_ms += took
        self.longest_ms = max(self.longest_ms, took)
        self.begun_ms, self.last_ms = None, now_ms
