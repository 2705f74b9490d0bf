"""Input of one decision, and the differences between Kafka releases."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from assignment_api.group import MemberAssignmentState
from builtin_assignors._group_sticky_steps.layout import GroupLayout
from builtin_assignors._group_sticky_steps.placement import GroupStickyPlacement
from builtin_assignors._group_sticky_steps.previous import ReturnCandidates
from builtin_assignors._group_sticky_steps.tasks import TopologyTasks

__all__ = ["Choice", "GroupStickyProblem", "Rules", "TaskWithoutProcess"]


Choice = Callable[[Sequence[int], Sequence[int]], int]


@attrs.frozen
class Rules:
    """The parts that differ between Kafka releases.

    Args:
        candidates: Finds the members to which each task may return as standby or be promoted.
        chooser: Makes the function that chooses among several candidates while tasks are placed. Its arguments are the
            candidates and the processes that already hold the task; it returns a member or -1.
        process_order: The processes in the order in which Kafka fills a queue with them.
    """

    candidates: Callable[[Sequence[MemberAssignmentState], TopologyTasks], ReturnCandidates]
    chooser: Callable[[GroupStickyPlacement], Choice]
    process_order: Callable[[GroupLayout], Sequence[int]]


@attrs.frozen
class GroupStickyProblem:
    """Input of one decision.

    Args:
        rules: Rules of the release.
        previous_actives: Previous owner of each task, -1 = none.
        candidates: Previous standby owners, as the rules find them.
    """

    rules: Rules
    layout: GroupLayout
    tasks: TopologyTasks
    num_standbys: int
    previous_actives: Sequence[int]
    candidates: ReturnCandidates

    def process_order(self) -> Sequence[int]:
        """The processes in the order in which Kafka fills a queue with them."""
        return self.layout.process_order(self.rules.process_order)


class TaskWithoutProcess(Exception):  # noqa: N818 - a signal to the module around the steps
    """The group has no process; ``task`` is the first task to place."""

    def __init__(self, task: int) -> None:
        super().__init__(task)
        self.task = task
