"""Tasks of an application, shared by its states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping
from types import MappingProxyType

from assignment_api.errors import IllegalAssignmentArgumentError, IllegalAssignmentStateError
from assignment_api.streams.ids import TaskId
from assignment_api.streams.tasks import TaskInfo

__all__ = ["TaskTable"]


class TaskTable:
    """All tasks, in the order of the input; read-only. Iteration yields them.

    Raises:
        IllegalAssignmentArgumentError: if an id occurs twice.
        IllegalAssignmentStateError: if only some tasks are named.
    """

    __slots__ = ("infos", "stateful")

    def __init__(self, tasks: Iterable[TaskInfo]) -> None:
        by_id = _by_id(tasks)
        self.infos: Mapping[TaskId, TaskInfo] = MappingProxyType(by_id)
        self.stateful: KeysView[TaskId] = {
            task: None for task, info in by_id.items() if info.is_stateful and info.is_logged
        }.keys()

    def __iter__(self) -> Iterator[TaskInfo]:
        return iter(self.infos.values())


def _by_id(tasks: Iterable[TaskInfo]) -> dict[TaskId, TaskInfo]:
    infos: dict[TaskId, TaskInfo] = {}
    for info in tasks:
        if info.id in infos:
            raise IllegalAssignmentArgumentError(f"task {info.id} occurs twice")
        infos[info.id] = info
    named = [task for task in infos if task.topology_name is not None]
    if named and len(named) != len(infos):
        unnamed = next(task for task in infos if task.topology_name is None)
        raise IllegalAssignmentStateError(
            f"tasks {named[0]} and {unnamed} cannot be in one application: all tasks are named, or none is"
        )
    return infos
