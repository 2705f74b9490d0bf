"""Assignments of tasks over time, by the decisions of a history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assignment_api.streams import TaskId
from assignor_lab.capture.histories.moments import DecisionMoment
from assignor_lab.capture.histories.presence import instance_names
from assignor_lab.groups.ownership.timeline import assigned_rows, last_moment

__all__ = ["assigned_tasks"]


def assigned_tasks(moments: Sequence[DecisionMoment]) -> dict[str, Any]:
    """Lanes of active tasks, in the form of an episode's; milliseconds since the first decision."""
    begin = moments[0].time_ms
    times = [moment.time_ms - begin for moment in moments]
    names = instance_names(moments, ())
    given = [
        {names[process]: active for process, (active, _) in moment.placed.items() if process in names}
        for moment in moments
    ]
    instances = list(dict.fromkeys(names.values()))
    return assigned_rows(times, last_moment(times), instances, given, lambda task: TaskId.parse(task).sort_key())
