"""Standbys as placed by Kafka's public utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assignment_api.errors import IllegalAssignmentArgumentError
from assignment_api.java.hash_table import JavaHashTable, iteration_order
from assignment_api.java.hashing import task_id_hash
from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.assignment import AssignedTask, AssignedTaskType, StreamsClientAssignment
from assignment_api.streams.client_state import StreamsClientState
from assignment_api.streams.ids import ProcessID, TaskId
from assignment_api.utils.client_order import clients_in_map_order, map_order
from assignment_api.utils.standby import (
    ClientTags,
    OrderOfPending,
    assign_least_loaded,
    assign_to_different_tags,
)

__all__ = ["UnknownClientError", "default_standby_task_assignment"]


class UnknownClientError(IllegalAssignmentArgumentError):
    """An assignment names a client that the application lacks, and its data is needed."""

    java_type = "NullPointerException"


def default_standby_task_assignment(
    application: ApplicationMetadata, assignments: Mapping[ProcessID, StreamsClientAssignment]
) -> dict[ProcessID, StreamsClientAssignment]:
    """Add ``num.standby.replicas`` standbys of every logged task to ``assignments``.

    With ``rack.aware.assignment.tags``, replicas of a task get different tags if possible, otherwise the least loaded
    clients by tasks (standbys included) per thread. Kafka: ``TaskAssignmentUtils.defaultStandbyTaskAssignment``: with
    tags, every active task gets a standby even if none is configured. Hash order decides which tasks come first. Lags
    are not needed.

    Args:
        assignments: Not changed; a client without one gets one.

    Returns:
        Assignments, new standbys last: clients in the order of the application, then unknown ones.

    Raises:
        UnknownClientError: with tags, if an unknown client holds an active logged task, or a task with too few clients
            of different tags needs its load.
        SeveralOwnersError: with tags, if a logged task is active on several clients (not always).
    """
    states = application.streams_client_states()
    clients = sorted(states.values(), key=_process_order)
    numbers = {task: number for number, task in enumerate(application.all_tasks())}
    active: list[set[int]] = []
    standby: list[set[int]] = []
    for client in clients:
        held = assignments.get(client.process_id)
        tasks = () if held is None else held.tasks
        active.append(_numbers_of(tasks, AssignedTaskType.ACTIVE, numbers))
        standby.append(_numbers_of(tasks, AssignedTaskType.STANDBY, numbers))
    before = [frozenset(tasks) for tasks in standby]
    _assign(application, clients, assignments, numbers, active, standby)
    ids = list(numbers)
    completed: dict[ProcessID, StreamsClientAssignment] = {process: _empty(process) for process in states}
    completed.update(assignments)
    for client, numbered, known in zip(clients, standby, before, strict=True):
        assignment = completed[client.process_id]
        for task in sorted((ids[number] for number in numbered - known), key=TaskId.sort_key):
            assignment = assignment.with_task(AssignedTask.standby(task))
        completed[client.process_id] = assignment
    return completed


def _process_order(client: StreamsClientState) -> tuple[int, int]:
    return client.process_id.sort_key()


def _empty(process: ProcessID) -> StreamsClientAssignment:
    return StreamsClientAssignment.of(process, ())


def _numbers_of(tasks: Sequence[AssignedTask], kind: AssignedTaskType, numbers: dict[TaskId, int]) -> set[int]:
    # An unknown task counts as load, too.
    return {numbers.setdefault(task.id, len(numbers)) for task in tasks if task.type is kind}


def _assign(
    application: ApplicationMetadata,
    clients: Sequence[StreamsClientState],
    assignments: Mapping[ProcessID, StreamsClientAssignment],
    numbers: Mapping[TaskId, int],
    active: Sequence[set[int]],
    standby: Sequence[set[int]],
) -> None:
    configs = application.assignment_configs()
    keys = configs.rack_aware_assignment_tags
    capacities = [client.num_stream_threads for client in clients]
    logged = _logged_in_hash_order(application)
    tasks = [numbers[task] for task in logged]
    if not keys:
        assign_least_loaded(tasks, configs.num_standby_replicas, capacities, active, standby)
        return
    assign_to_different_tags(
        tasks,
        configs.num_standby_replicas,
        capacities,
        active,
        standby,
        _owners(application, clients, assignments, dict(zip(logged, tasks, strict=True))),
        ClientTags.of([client.client_tags for client in clients], keys),
        _order_of_pending(application, assignments, dict(zip(tasks, logged, strict=True))),
    )


def _logged_in_hash_order(application: ApplicationMetadata) -> list[TaskId]:
    """Kafka copies one hash container into another."""
    infos = application.task_infos()
    everything = list(infos)
    in_map = iteration_order(everything, [_hash(task) for task in everything], sort_key=TaskId.sort_key)
    logged = [task for task in in_map if infos[task].is_logged]
    return iteration_order(logged, [_hash(task) for task in logged], sort_key=TaskId.sort_key)


def _hash(task: TaskId) -> int:
    return task_id_hash(task.subtopology, task.partition, task.topology_name)


def _owners(
    application: ApplicationMetadata,
    clients: Sequence[StreamsClientState],
    assignments: Mapping[ProcessID, StreamsClientAssignment],
    logged: Mapping[TaskId, int],
) -> dict[int, list[int]]:
    client_numbers = {client.process_id: number for number, client in enumerate(clients)}
    states = application.streams_client_states()
    processes = [*assignments, *[process for process in clients_in_map_order(states) if process not in assignments]]
    owners: dict[int, list[int]] = {}
    for process in map_order(processes):
        held = assignments.get(process)
        for task in () if held is None else held.active_tasks():
            if task not in logged:
                continue
            if process not in client_numbers:
                raise UnknownClientError(
                    f"client {process} has active task {task}, but is no client of the application: it has no tags"
                )
            owners.setdefault(logged[task], []).append(client_numbers[process])
    return owners


def _order_of_pending(
    application: ApplicationMetadata,
    assignments: Mapping[ProcessID, StreamsClientAssignment],
    ids: Mapping[int, TaskId],
) -> OrderOfPending:
    states = application.streams_client_states()
    strangers = [process for process in assignments if process not in states]

    def order(inserted: Sequence[int], removed: Sequence[int]) -> Sequence[int]:
        # From here on Kafka orders all clients by load.
        if strangers and len(states) + len(strangers) > 1:
            raise UnknownClientError(
                f"client {strangers[0]} has an assignment, but is no client of the application: its load is unknown"
            )
        table: JavaHashTable[int, None] = JavaHashTable(
            lambda task: _hash(ids[task]), lambda task: ids[task].sort_key()
        )
        for task in inserted:
            table.put(task, None)
        for task in removed:
            table.remove(task)
        return list(table)

    return order
