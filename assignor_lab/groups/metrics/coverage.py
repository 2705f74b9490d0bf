"""Coverage of both kinds of Streams groups: tasks that the answer leaves out.

An answer that leaves tasks out looks balanced without it.
"""

from __future__ import annotations

from assignor_lab.groups.metrics.definition import metric
from assignor_lab.groups.metrics.processes import OnProcesses

__all__ = ["GROUP", "tasks_not_assigned"]

GROUP = "coverage"


@metric(GROUP, "tasks", "lower", "None.")
def tasks_not_assigned(placement: OnProcesses) -> float:
    """Tasks that no client runs. Kafka does not notice; the application stands still there."""
    return float(len([owner for owner in placement.owner if owner < 0]))
