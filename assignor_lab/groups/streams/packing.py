"""An application as bytes: to send it to another process, and to see whether somebody changed it.

Tasks are numbers in it: positions in a list of task ids. The tasks themselves are a part of their own, since they
seldom change between the rounds of a history and need not be made anew then.
"""

from __future__ import annotations

import pickle
from typing import Any

import attrs

from assignment_api import ApplicationMetadata, AssignmentConfigs, StreamsClientState, TaskId, Workload

__all__ = ["fingerprint", "packed_application"]

_CONFIG_FIELDS = tuple(field.name for field in attrs.fields(AssignmentConfigs))


def fingerprint(application: ApplicationMetadata) -> tuple[bytes, ...]:
    """Everything that an assignor is shown, for comparison within this process."""
    ids = [info.id for info in application.task_infos().values()]
    keys = (
        [(task.subtopology, task.partition, task.topology_name) for task in ids],
        [process.id.int for process in application.streams_client_states()],
    )
    return (*packed_application(application), pickle.dumps(keys, protocol=5))


def packed_application(application: ApplicationMetadata) -> tuple[bytes, bytes]:
    """The application and its tasks, each as bytes: pickled plain data."""
    infos = application.task_infos()
    positions: dict[TaskId, int] = {task: number for number, task in enumerate(infos)}
    tasks = [
        (
            info.is_stateful,
            info.is_logged,
            info.state_store_names,
            None
            if info.topic_partitions is None
            else [
                (each.topic, each.partition, each.is_source, each.is_changelog, each.rack_ids)
                for each in info.topic_partitions
            ],
        )
        for info in infos.values()
    ]
    shared: dict[int, dict[int, int]] = {}
    clients = [_client(client, positions, shared) for client in application.streams_client_states().values()]
    workload = _workload(application.workload(), positions)
    leader = application.leader_process_id()
    configs = application.assignment_configs()
    ids = [(task.subtopology, task.partition, task.topology_name) for task in positions]
    rest = (
        ids,
        clients,
        tuple([getattr(configs, name) for name in _CONFIG_FIELDS]),
        application.current_time_ms(),
        None if leader is None else leader.id.int,
        workload,
    )
    return pickle.dumps(rest, protocol=5), pickle.dumps((ids[: len(infos)], tasks), protocol=5)


def _workload(workload: Workload | None, positions: dict[TaskId, int]) -> Any:
    if workload is None:
        return None
    weights = [
        (positions.setdefault(task, len(positions)), each.state_bytes, each.input_bytes_per_s, each.weight)
        for task, each in workload.tasks.items()
    ]
    return weights, workload.restore_bytes_per_s


def _client(
    client: StreamsClientState, positions: dict[TaskId, int], shared: dict[int, dict[int, int]]
) -> tuple[Any, ...]:
    def number(task: TaskId) -> int:
        # Tasks that no longer exist come after those of the application.
        return positions.setdefault(task, len(positions))

    lags = client._lags
    if lags is not None and id(lags) not in shared:
        shared[id(lags)] = {number(task): lag for task, lag in lags.items()}
    before = client._previous_tasks_by_consumer
    return (
        client.process_id.id.int,
        client.num_stream_threads,
        client.consumers,
        [number(task) for task in client.previous_active_tasks],
        [number(task) for task in client.previous_standby_tasks],
        None if lags is None else shared[id(lags)],
        None if before is None else {consumer: [number(task) for task in tasks] for consumer, tasks in before.items()},
        None if client.host_info is None else (client.host_info.host, client.host_info.port),
        dict(client.client_tags),
        client.rack_id,
    )
