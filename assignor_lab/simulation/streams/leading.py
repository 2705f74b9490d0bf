"""Who decides where tasks run: what a simulated group needs of an assignor, whatever it is and wherever it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import attrs

from assignment_api import ApplicationMetadata, AssignorLabError, TaskAssignment
from assignment_api.group import GroupAssignment, GroupSpec, TopologyDescriber
from assignor_lab.kafka.streams_group.releases import Release

__all__ = ["Answer", "BrokersAssignor", "LeaderFailedError", "TaskLeader"]


class LeaderFailedError(AssignorLabError):
    """An assignor gave no answer in a simulated group.

    In the classic protocol this ends the episode. In the streams protocol the broker refuses the request that asked,
    whose client ends, and goes on.
    """


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


@attrs.frozen(eq=False)
class BrokersAssignor:
    """The assignor of a streams group, and the broker that it runs in.

    Args:
        name: Its name.
        release: Version of the broker.
        refines: The broker warms state up before it moves tasks, as no released one does.
        ask: The answer for one target; raises :class:`LeaderFailedError` if there is none.
    """

    name: str
    release: Release
    ask: Callable[[GroupSpec, TopologyDescriber], GroupAssignment]
    refines: bool = False
