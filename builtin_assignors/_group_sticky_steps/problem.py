"""What one decision works on, and what the releases of Kafka do differently."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from builtin_assignors._group_sticky_steps.members import VisitedMembers
from builtin_assignors._group_sticky_steps.placement import Placement
from builtin_assignors._group_sticky_steps.tasks import TopologyTasks

__all__ = ["Problem", "Rules", "TaskWithoutProcess"]


@attrs.frozen
class Rules:
    """What a release of Kafka does in its own way.

    Args:
        previous_standbys: Task to the members to which it may return as standby or be promoted, in the order in which
            they are asked; nobody left out.
        choose: Of several such members the one that is asked, or -1, for the processes that hold the task already.
        process_order: The processes in the order in which Kafka fills a queue with them.
    """

    previous_standbys: Callable[[VisitedMembers, TopologyTasks], Mapping[int, Sequence[int]]]
    choose: Callable[[Placement, Sequence[int], Sequence[int]], int]
    process_order: Callable[[VisitedMembers], Sequence[int]]


@attrs.frozen
class Problem:
    """Input of one decision.

    Args:
        rules: Of the release.
        members: The members.
        tasks: The tasks.
        num_standbys: Standbys asked for.
        previous_actives: Member that had each task, -1 = nobody.
        previous_standbys: As the rules say.
    """

    rules: Rules
    members: VisitedMembers
    tasks: TopologyTasks
    num_standbys: int
    previous_actives: Sequence[int]
    previous_standbys: Mapping[int, Sequence[int]]


class TaskWithoutProcess(Exception):  # noqa: N818 - a signal to the module around the steps
    """There is no process at all; ``task`` is the first task that was to be placed."""

    def __init__(self, task: int) -> None:
        super().__init__(task)
        self.task = task
