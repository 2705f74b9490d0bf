"""The assignment that changes nothing."""

from __future__ import annotations

from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.assignment import AssignedTask, StreamsClientAssignment
from assignment_api.streams.ids import ProcessID

__all__ = ["identity_assignment"]


def identity_assignment(application: ApplicationMetadata) -> dict[ProcessID, StreamsClientAssignment]:
    """Every client keeps its previous active tasks as active and its previous standbys as standby.

    No repair: tasks that no longer exist stay, tasks without a previous owner are left out.
    Kafka: ``TaskAssignmentUtils.identityAssignment``.

    Returns:
        An assignment for each client, in the order of the clients.

    Raises:
        IllegalAssignmentStateError: if a client had a task as active and as standby.
    """
    assignments = {}
    for process, client in application.streams_client_states().items():
        tasks = [AssignedTask.active(task) for task in client.previous_active_tasks]
        tasks += [AssignedTask.standby(task) for task in client.previous_standby_tasks]
        assignments[process] = StreamsClientAssignment.of(process, tasks)
    return assignments
