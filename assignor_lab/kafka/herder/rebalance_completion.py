"""The completion of a rebalance: what is missing before a worker may start what it was assigned.

Kafka: ``DistributedHerder.handleRebalanceCompleted``.
"""

from __future__ import annotations

import attrs

from assignor_lab.kafka.herder.assignment import Assignment
from assignor_lab.kafka.herder.config_log.end import must_read
from assignor_lab.kafka.herder.delayed_rejoin import delay_is_over, end_of_delay

__all__ = ["Missing", "RebalanceCompletion"]


@attrs.frozen
class Missing:
    """What is missing.

    Args:
        read: The config log has to be read to its end.
        join: The worker has to join again.
    """

    read: bool
    join: bool


@attrs.define
class RebalanceCompletion:
    """How far a worker is with its last assignment.

    Args:
        resolved: It is carried out, as far as the delay allows.
        rejoin_at_ms: The end of the delay at which the worker joins again; ``None`` = there is none.
    """

    resolved: bool = True
    rejoin_at_ms: int | None = None

    def assigned(self, told: Assignment, now_ms: int) -> None:
        """The worker has taken an assignment."""
        self.rejoin_at_ms = end_of_delay(told, now_ms)
        self.resolved = False

    def look_again(self) -> None:
        """While a delay runs, each turn of the herder looks whether it is over (Kafka: ``DistributedHerder.tick``)."""
        if self.rejoin_at_ms is not None:
            self.resolved = False

    def missing(self, told: Assignment, member_id: str | None, offset: int, now_ms: int) -> Missing:
        """What is missing, looked at now; a delay that is over ends.

        Args:
            told: The assignment.
            member_id: The worker's.
            offset: How far it has read the config log.
            now_ms: What the clock shows.
        """
        over = delay_is_over(self.rejoin_at_ms, now_ms)
        if over:
            self.rejoin_at_ms = None
        return Missing(must_read(told, member_id, offset), told.failed or over)
