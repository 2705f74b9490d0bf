"""The assignment that changes nothing."""

from __future__ import annotations

from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.assignment import AssignedTask, StreamsClientAssignment
from assignment_api.streams.ids import ProcessID

__all__ = ["identity_assignment"]


def identity_assignment(application: ApplicationMetadata) -> dict[ProcessID, StreamsClientAssignment]:
    """Every client gets its previous active tasks as active and its previous standbys as standby.

    Nothing is repaired: tasks that no longer exist stay, tasks that nobody had are left out. A task that a client
    reports in both roles ends as a standby, as in Kafka, where the second entry of a map replaces the first.
    Kafka: ``TaskAssignmentUtils.identityAssignment`` (reference 5.2).

    Returns:
        An assignment for each client, in the order of the clients.
    """
    assignments = {}
    for process, client in application.streams_client_states().items():
        tasks = {task: AssignedTask.active(task) for task in client.previous_active_tasks}
        tasks.update((task, AssignedTask.standby(task)) for task in client.previous_standby_tasks)
        assignments[process] = StreamsClientAssignment.of(process, tasks.values())
    return assignments
