"""The assignment that changes nothing."""

from __future__ import annotations

from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.assignment import AssignedTask, StreamsClientAssignment
from assignment_api.streams.ids import ProcessID

__all__ = ["identity_assignment"]


def identity_assignment(application: ApplicationMetadata) -> dict[ProcessID, StreamsClientAssignment]:
    """Every client keeps its previous tasks with their roles.

    No repair: vanished tasks stay, unowned ones are left out. In the order of the clients.
    Kafka: ``TaskAssignmentUtils.identityAssignment``.

    Raises:
        IllegalAssignmentStateError: if a client had a task as active and as standby.
    """
    assignments = {}
    for process, client in application.streams_client_states().items():
        tasks = [AssignedTask.active(task) for task in client.previous_active_tasks]
        tasks += [AssignedTask.standby(task) for task in client.previous_standby_tasks]
        assignments[process] = StreamsClientAssignment.of(process, tasks)
    return assignments
