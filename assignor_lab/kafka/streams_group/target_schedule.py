"""Times at which the broker may compute a new target for a streams group.

Kafka: ``GroupMetadataManager`` with ``group.streams.initial.rebalance.delay.ms`` and
``group.streams.assignment.interval.ms``.
"""

from __future__ import annotations

import attrs

__all__ = ["TargetSchedule"]


@attrs.define
class TargetSchedule:
    """Times at which targets may be computed, by the broker's clock.

    Args:
        initial_due_ms: End of the delay of a group that was empty; ``None``: it does not wait.
        computed_ms: Time of the latest target; ``None``: there is none yet.
    """

    initial_delay_ms: int
    interval_ms: int
    initial_due_ms: int | None = None
    computed_ms: int | None = None

    def first_member(self, now_ms: int) -> None:
        """Start the timer for the first member of an empty group, unless it runs already."""
        if self.initial_delay_ms and self.initial_due_ms is None:
            self.initial_due_ms = now_ms + self.initial_delay_ms

    def may_compute(self, now_ms: int) -> bool:
        """True if a heartbeat that finds the target outdated may compute a new one now."""
        if self.initial_due_ms is not None:
            return False
        return self.is_interval_over(now_ms)

    def is_interval_over(self, now_ms: int) -> bool:
        return self.computed_ms is None or now_ms >= self.computed_ms + self.interval_ms

    def computed(self, now_ms: int) -> None:
        self.computed_ms, self.initial_due_ms = now_ms, None
