"""Offered assignors."""

from __future__ import annotations

from assignment_api.plugins import TaskAssignorPlugin, hookimpl
from assignor_optimal.load_aware import SETTINGS, LoadAwareTaskAssignor
from assignor_optimal.optimal import GOALS, NODES, SECONDS, OptimalTaskAssignor

__all__ = ["assignor_lab_task_assignors"]


@hookimpl
def assignor_lab_task_assignors() -> list[TaskAssignorPlugin]:
    """The two assignors for Streams applications."""
    return [
        TaskAssignorPlugin(
            name="optimal",
            factory=OptimalTaskAssignor,
            summary="Computes the best placement by a list of goals, and reaches it by warm-ups.",
            settings=(GOALS, SECONDS, NODES),
        ),
        TaskAssignorPlugin(
            name="load_aware",
            factory=LoadAwareTaskAssignor,
            summary="Evens out measured load; a task moves only if its gain outlasts the cost of the move.",
            settings=SETTINGS,
        ),
    ]
