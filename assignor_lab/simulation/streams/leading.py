"""Who decides where tasks run: what a simulated group needs of an assignor, whatever it is and wherever it runs."""

from __future__ import annotations

from typing import Protocol

import attrs

from assignment_api import ApplicationMetadata, AssignorLabError, TaskAssignment

__all__ = ["Answer", "LeaderFailedError", "TaskLeader"]


class LeaderFailedError(AssignorLabError):
    """An assignor gave no answer in a simulated group, which ends the episode."""


@attrs.frozen
class Answer:
    """An assignor's answer.

    Args:
        assignment: Who gets what.
        sorted_sets: It came from one of Kafka's internal assignors
            (:func:`assignor_lab.kafka.leader.threads.spread_over_consumers`).
    """

    assignment: TaskAssignment
    sorted_sets: bool


class TaskLeader(Protocol):
    """Asks the assignor of a classic group; made anew for each episode."""

    def assign(self, application: ApplicationMetadata) -> Answer:
        """The answer for one rebalance; where lags are unknown, that of Kafka's fallback.

        Raises:
            LeaderFailedError: if there is none.
        """
