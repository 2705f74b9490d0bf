"""Completion of a rebalance: missing steps before a worker may start its jobs.

Kafka: ``DistributedHerder.handleRebalanceCompleted``.
"""

from __future__ import annotations

import attrs

from assignor_lab.kafka.herder.assignment import Assignment
from assignor_lab.kafka.herder.config_log.end import must_read
from assignor_lab.kafka.herder.delayed_rejoin import delay_is_over, end_of_delay

__all__ = ["MissingSteps", "RebalanceCompletion"]


@attrs.frozen
class MissingSteps:
    """Missing steps.

    Args:
        is_over: A delay has ended.
    """

    read: bool
    join: bool
    is_over: bool = False


@attrs.define
class RebalanceCompletion:
    """Progress of a worker with its last assignment.

    Args:
        resolved: It is carried out, except for a running delay.
        rejoin_at_ms: The end of the delay at which the worker rejoins; ``None`` = no delay.
    """

    resolved: bool = True
    rejoin_at_ms: int | None = None

    def assigned(self, assignment: Assignment, now_ms: int) -> None:
        self.rejoin_at_ms = end_of_delay(assignment, now_ms)
        self.resolved = False

    def look_again(self) -> None:
        """During a delay each tick of the herder checks for its end (Kafka: ``DistributedHerder.tick``)."""
        if self.rejoin_at_ms is not None:
            self.resolved = False

    def missing(self, assignment: Assignment, member_id: str | None, offset: int, now_ms: int) -> MissingSteps:
        """Steps that are missing now; ends an expired delay."""
        over = delay_is_over(self.rejoin_at_ms, now_ms)
        if over:
            self.rejoin_at_ms = None
        return MissingSteps(must_read(assignment, member_id, offset), assignment.failed or over, over)
