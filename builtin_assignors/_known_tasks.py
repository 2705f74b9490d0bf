"""Sorted tasks of an application, cached across its states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.last_result import keeps_last
from assignment_api.streams import AssignedTask, AssignedTaskType, TaskId, TaskInfo

__all__ = ["KnownTasks", "known_tasks"]


@attrs.frozen(eq=False)
class KnownTasks:
    """All tasks in ascending order; a task's place is its number.

    Args:
        listed: Places in the order of the input.
        logged: Whether the task of each place has a changelog.
        as_active: The task of each place as an active one.
        as_standby: The same as a standby.
    """

    infos: Mapping[TaskId, TaskInfo]
    ids: list[TaskId]
    place_of: dict[TaskId, int]
    listed: list[int]
    logged: list[bool]
    as_active: list[AssignedTask]
    as_standby: list[AssignedTask]
    #: Values derived by assignors, by deriving module.
    memory: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)


@keeps_last  # the rounds of a group, and its assignors, come one after another
def known_tasks(infos: Mapping[TaskId, TaskInfo]) -> KnownTasks:
    """The tasks of an application (its ``task_infos()``), cached for states that share them."""
    if any(task.topology_name is not None for task in infos):
        ids = sorted(infos, key=TaskId.sort_key)
    else:
        ids = sorted(infos, key=_numbers)
    place_of = {task: place for place, task in enumerate(ids)}
    return KnownTasks(
        infos=infos,
        ids=ids,
        place_of=place_of,
        listed=[place_of[task] for task in infos],
        logged=[infos[task].is_logged for task in ids],
        as_active=[AssignedTask(task, AssignedTaskType.ACTIVE) for task in ids],
        as_standby=[AssignedTask(task, AssignedTaskType.STANDBY) for task in ids],
    )


def _numbers(task: TaskId) -> tuple[int, int]:
    return (task.subtopology, task.partition)
