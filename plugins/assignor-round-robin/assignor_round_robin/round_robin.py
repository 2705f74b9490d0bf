"""The simplest assignor that Kafka accepts."""

from __future__ import annotations

from itertools import cycle

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskAssignmentError,
    TaskAssignor,
    TaskId,
)
from assignment_api.utils import TaskAssignmentUtils

__all__ = ["RoundRobinTaskAssignor", "answer"]


class RoundRobinTaskAssignor(TaskAssignor):
    """Gives threads of clients tasks in turn; Kafka's utility places the standbys."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Place stateful tasks first, so that they are balanced.

        Raises:
            TaskAssignmentError: if no client has a thread.
        """
        seats = _seats(application)
        if not seats:
            raise TaskAssignmentError("no client has a thread to run a task on")
        actives: dict[ProcessID, list[TaskId]] = {process: [] for process in application.streams_client_states()}
        stateful = application.stateful_tasks()
        stateless = sorted(task for task in application.all_tasks() if task not in stateful)
        for task, process in zip([*sorted(stateful), *stateless], cycle(seats), strict=False):
            actives[process].append(task)
        return answer(application, actives)


def _seats(application: ApplicationMetadata) -> list[ProcessID]:
    """Every client once, then those with a second thread, and so on."""
    clients = sorted(application.streams_client_states().values(), key=lambda client: client.process_id)
    most = max((client.num_stream_threads for client in clients), default=0)
    return [client.process_id for thread in range(most) for client in clients if client.num_stream_threads > thread]


def answer(application: ApplicationMetadata, actives: dict[ProcessID, list[TaskId]]) -> TaskAssignment:
    """The active tasks as an answer, with the application's standbys."""
    placed = {
        process: StreamsClientAssignment.of(process, [AssignedTask.active(task) for task in tasks])
        for process, tasks in actives.items()
    }
    if application.assignment_configs().num_standby_replicas > 0:
        placed = dict(TaskAssignmentUtils.default_standby_task_assignment(application, placed))
    return TaskAssignment(placed)
