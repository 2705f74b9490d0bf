"""The problem of one decision, and the differences between releases of Kafka."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from assignment_api.group import MemberAssignmentState
from builtin_assignors._group_sticky_steps.layout import GroupLayout
from builtin_assignors._group_sticky_steps.placement import Placement
from builtin_assignors._group_sticky_steps.previous import Candidates
from builtin_assignors._group_sticky_steps.tasks import TopologyTasks

__all__ = ["Choice", "Problem", "Rules", "TaskWithoutProcess"]


Choice = Callable[[Sequence[int], Sequence[int]], int]


@attrs.frozen
class Rules:
    """What a release of Kafka does in its own way.

    Args:
        candidates: The members to which each task may return as standby, or be promoted.
        chooser: Makes, for the tasks as they are placed meanwhile, the choice among several such members: of the first
            argument the one that is asked, or -1; the second argument are the processes that hold the task already.
        process_order: The processes in the order in which Kafka fills a queue with them.
    """

    candidates: Callable[[Sequence[MemberAssignmentState], TopologyTasks], Candidates]
    chooser: Callable[[Placement], Choice]
    process_order: Callable[[GroupLayout], Sequence[int]]


@attrs.frozen
class Problem:
    """Input of one decision.

    Args:
        rules: Of the release.
        layout: The members.
        tasks: The tasks.
        num_standbys: Standbys asked for.
        previous_actives: Member that had each task, -1 = nobody.
        candidates: As the rules say.
    """

    rules: Rules
    layout: GroupLayout
    tasks: TopologyTasks
    num_standbys: int
    previous_actives: Sequence[int]
    candidates: Candidates

    def process_order(self) -> Sequence[int]:
        """The processes in the order in which Kafka fills a queue with them."""
        return self.layout.process_order(self.rules.process_order)


class TaskWithoutProcess(Exception):  # noqa: N818 - a signal to the module around the steps
    """There is no process at all; ``task`` is the first task that was to be placed."""

    def __init__(self, task: int) -> None:
        super().__init__(task)
        self.task = task
