"""Assignments of tasks over time, by the decisions of a history."""

from __future__ import annotations

from assignment_api.streams import TaskId
from assignor_lab.documents.wording import natural_order
from assignor_lab.groups.ownership.timeline import assigned_rows, last_moment
from assignor_lab.model.history import PARTITIONS, GroupHistory
from assignor_lab.model.pictures import Gantt

__all__ = ["assigned_tasks"]


def assigned_tasks(history: GroupHistory) -> Gantt:
    """Lanes of active tasks or partitions, in the form of an episode's; milliseconds since the first decision."""
    begin = history.decisions[0].at.latest_ms
    times = [decision.at.latest_ms - begin for decision in history.decisions]
    given = [{name: each.active for name, each in decision.shares.items()} for decision in history.decisions]
    instances = [each.name for each in history.instances]
    if history.moves == PARTITIONS:
        wanted = [each.tasks or frozenset() for each in history.decisions]
        return assigned_rows(times, last_moment(times), instances, given, natural_order, wanted)
    return assigned_rows(times, last_moment(times), instances, given, lambda task: TaskId.parse(task).sort_key())
