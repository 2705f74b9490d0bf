from __future__ import annotations

import sys
from typing import Any

from assignment_api import ApplicationMetadata, AssignedTask, StreamsClientAssignment, TaskAssignment, TaskAssignor
from assignment_api.plugins import GroupAssignorPlugin, TaskAssignorPlugin, hookimpl
from assignor_misbehaving.group_assignors import GROUP_ASSIGNORS


class Raises(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        raise RuntimeError("no assignment today </script>\x1b[2J[bold]")


class Leaves(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        sys.exit("gone")


class ReturnsText(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        garbage: Any = "garbage"
        return garbage  # type: ignore[no-any-return]


class GarbageAmongTasks(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        tasks: list[Any] = [AssignedTask.active(task) for task in application.all_tasks()]
        tasks.insert(4, "garbage")
        first, *others = application.streams_client_states()
        return TaskAssignment([StreamsClientAssignment(first, tasks), *map(StreamsClientAssignment, others)])


class GarbageAmongClients(TaskAssignor):
    """Gives garbage as the fifth client, or as the last if there are fewer than four."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        first, *others = application.streams_client_states()
        everything = tuple(AssignedTask.active(task) for task in application.all_tasks())
        clients: list[Any] = [StreamsClientAssignment(first, everything), *map(StreamsClientAssignment, others)]
        clients.insert(4, "garbage")
        return TaskAssignment(clients)


class Mutates(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        first, *others = application.streams_client_states()
        state = application.streams_client_states()[first]
        object.__setattr__(state, "previous_active_tasks", tuple(application.all_tasks()))
        object.__setattr__(state, "num_stream_threads", state.num_stream_threads + 1)
        everything = tuple(AssignedTask.active(task) for task in application.all_tasks())
        return TaskAssignment([StreamsClientAssignment(first, everything), *map(StreamsClientAssignment, others)])


def _no_assignor() -> Any:
    return object()


@hookimpl
def assignor_lab_task_assignors() -> list[TaskAssignorPlugin]:
    return [
        TaskAssignorPlugin("raises", Raises),
        TaskAssignorPlugin("leaves", Leaves),
        TaskAssignorPlugin("returns_text", ReturnsText),
        TaskAssignorPlugin("garbage_among_tasks", GarbageAmongTasks),
        TaskAssignorPlugin("garbage_among_clients", GarbageAmongClients),
        TaskAssignorPlugin("mutates", Mutates),
        TaskAssignorPlugin("makes_no_assignor", _no_assignor),
        TaskAssignorPlugin("High-Availability", Raises),
    ]


@hookimpl
def assignor_lab_group_assignors() -> list[GroupAssignorPlugin]:
    return GROUP_ASSIGNORS
