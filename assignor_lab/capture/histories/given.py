"""Who was given which task when, by the decisions of a history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assignment_api.streams import TaskId
from assignor_lab.capture.histories.moments import Moment
from assignor_lab.capture.histories.presence import instance_names
from assignor_lab.groups.given import given_rows, last_moment

__all__ = ["given_tasks"]


def given_tasks(moments: Sequence[Moment]) -> dict[str, Any]:
    """A picture of active tasks, in the form of an episode's; milliseconds since the first decision.

    Args:
        moments: Decisions by time, at least one.
    """
    begin = moments[0].time_ms
    times = [moment.time_ms - begin for moment in moments]
    names = instance_names(moments, ())
    given = [
        {names[process]: active for process, (active, _) in moment.placed.items() if process in names}
        for moment in moments
    ]
    instances = list(dict.fromkeys(names.values()))
    return given_rows(times, last_moment(times), instances, given, lambda task: TaskId.parse(task).sort_key())
