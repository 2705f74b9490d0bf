"""What this distribution offers to Assignor Lab."""

from __future__ import annotations

from assignment_api.plugins import TaskAssignorPlugin, hookimpl
from assignor_round_robin.round_robin import RoundRobinTaskAssignor
from assignor_round_robin.weighted_spread import WeightedSpreadTaskAssignor

__all__ = ["assignor_lab_task_assignors"]


@hookimpl
def assignor_lab_task_assignors() -> list[TaskAssignorPlugin]:
    """The two assignors."""
    return [
        TaskAssignorPlugin(
            name="round_robin",
            factory=RoundRobinTaskAssignor,
            summary="Deals tasks out in turn, one for each thread, without a look at where they were.",
        ),
        TaskAssignorPlugin(
            name="weighted_spread",
            factory=WeightedSpreadTaskAssignor,
            summary="Gives each client its share by threads and moves as few active tasks as that allows.",
        ),
    ]
