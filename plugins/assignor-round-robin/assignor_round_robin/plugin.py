"""Offered assignors."""

from __future__ import annotations

from assignment_api.plugins import GroupAssignorPlugin, TaskAssignorPlugin, hookimpl
from assignor_round_robin.group_round_robin import GroupRoundRobinTaskAssignor
from assignor_round_robin.round_robin import RoundRobinTaskAssignor
from assignor_round_robin.weighted_spread import MAX_MOVES, WeightedSpreadTaskAssignor

__all__ = ["assignor_lab_group_assignors", "assignor_lab_task_assignors"]


@hookimpl
def assignor_lab_task_assignors() -> list[TaskAssignorPlugin]:
    """The two assignors for Streams applications."""
    return [
        TaskAssignorPlugin(
            name="round_robin",
            factory=RoundRobinTaskAssignor,
            summary="Gives each thread one task in turn, and ignores previous owners.",
        ),
        TaskAssignorPlugin(
            name="weighted_spread",
            factory=WeightedSpreadTaskAssignor,
            summary="Gives each client its share by threads and moves as few active tasks as that allows.",
            settings=(MAX_MOVES,),
        ),
    ]


@hookimpl
def assignor_lab_group_assignors() -> list[GroupAssignorPlugin]:
    """The assignor for groups of the streams protocol."""
    return [
        GroupAssignorPlugin(
            name="group_round_robin",
            factory=GroupRoundRobinTaskAssignor,
            summary="Gives each member one task in turn, and ignores previous owners.",
        )
    ]
