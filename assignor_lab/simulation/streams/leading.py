"""A simulated group's interface to its assignor, in any process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import attrs

from assignment_api import ApplicationMetadata, AssignorLabError, TaskAssignment
from assignment_api.group import GroupAssignment, GroupSpec, TopologyDescriber
from assignment_api.releases import KafkaRelease
from assignor_lab.kafka.streams_group.releases import Release

__all__ = ["LeaderAnswer", "BrokersAssignor", "LeaderFailedError", "TaskLeader"]


class LeaderFailedError(AssignorLabError):
    """An assignor failed in a simulated group.

    In the classic protocol this ends the episode. In the streams protocol only the client of the refused request ends.
    """


@attrs.frozen
class LeaderAnswer:
    """An assignor's answer.

    Args:
        sorted_sets: From one of Kafka's internal assignors
            (:func:`assignor_lab.kafka.leader.threads.spread_over_consumers`).
    """

    assignment: TaskAssignment
    sorted_sets: bool


class TaskLeader(Protocol):
    """Calls the assignor of a classic group; one for each episode."""

    def assign(self, application: ApplicationMetadata, release: KafkaRelease | None = None) -> LeaderAnswer:
        """The answer for one rebalance; with unknown lags, that of Kafka's fallback.

        Args:
            release: That of the leader, if it differs from the group's.

        Raises:
            LeaderFailedError: if there is none.
        """


@attrs.frozen(eq=False)
class BrokersAssignor:
    """The assignor of a streams group, with its broker.

    Args:
        ask: Returns the answer for one target, or raises :class:`LeaderFailedError`.
    """

    name: str
    release: Release
    ask: Callable[[GroupSpec, TopologyDescriber], GroupAssignment]
    refines: bool = False
