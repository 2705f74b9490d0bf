"""When the broker may compute a new target for a streams group.

Kafka: ``GroupMetadataManager`` with ``group.streams.initial.rebalance.delay.ms`` and
``group.streams.assignment.interval.ms``.
"""

from __future__ import annotations

import attrs

__all__ = ["TargetSchedule"]


@attrs.define
class TargetSchedule:
    """Moments at which targets may be computed, by the broker's clock.

    Args:
        initial_delay_ms: What the first member of an empty group waits for others.
        interval_ms: Time between one target and the next.
        initial_due_ms: When the delay of a group that was empty ends; ``None``: it does not wait.
        computed_ms: When the latest target was computed; ``None``: there is none yet.
    """

    initial_delay_ms: int
    interval_ms: int
    initial_due_ms: int | None = None
    computed_ms: int | None = None

    def first_member(self, now_ms: int) -> None:
        """A member has joined an empty group: a timer runs for it; one that runs already goes on."""
        if self.initial_delay_ms and self.initial_due_ms is None:
            self.initial_due_ms = now_ms + self.initial_delay_ms

    def may_compute(self, now_ms: int) -> bool:
        """Whether a heartbeat that finds the target behind may have a new one computed now."""
        if self.initial_due_ms is not None:
            return False
        return self.is_interval_over(now_ms)

    def is_interval_over(self, now_ms: int) -> bool:
        """Whether the latest target is as old as one has to be before the next."""
        return self.computed_ms is None or now_ms >= self.computed_ms + self.interval_ms

    def computed(self, now_ms: int) -> None:
        """A target was computed."""
        self.computed_ms, self.initial_due_ms = now_ms, None
