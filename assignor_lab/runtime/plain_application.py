"""A Streams application as plain data with numbered tasks, for the transfer to another process or to Java.

A task's number is its position among the application's tasks, then among further tasks of clients or a workload. The
tasks are a separate part, because they seldom change between the rounds of a history.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import attrs

from assignment_api import ApplicationMetadata, AssignmentConfigs, StreamsClientState, TaskId, TaskInfo, Workload

__all__ = ["PlainApplication", "PlainClient", "PlainId", "plain_application", "plain_tasks"]

_CONFIG_FIELDS = tuple(field.name for field in attrs.fields(AssignmentConfigs))

#: Sub-topology, partition and name of the topology.
PlainId = tuple[int, int, str | None]


class PlainClient(NamedTuple):
    """A client; tasks are numbers, the process is its UUID as a number."""

    process: int
    threads: int
    consumers: tuple[str, ...]
    active: list[int]
    standby: list[int]
    lags: dict[int, int] | None
    #: Consumer to its reported tasks; ``None``: unknown.
    before: dict[str, list[int]] | None
    host: tuple[str, int] | None
    tags: dict[str, str]
    rack: str | None


class PlainApplication(NamedTuple):
    """An application without its tasks.

    ``ids`` are the ids of the application's tasks, then of further tasks. ``configs`` have the order of
    ``AssignmentConfigs``. ``workload`` is ``None`` or the tasks' weights and the restore rate.
    """

    ids: list[PlainId]
    clients: list[PlainClient]
    configs: tuple[Any, ...]
    time_ms: int
    leader: int | None
    workload: Any


def plain_tasks(infos: Sequence[TaskInfo]) -> tuple[list[PlainId], list[tuple[Any, ...]]]:
    """Ids and properties of tasks: stateful, logged, stores, partitions (``None``: unknown)."""
    return [(info.id.subtopology, info.id.partition, info.id.topology_name) for info in infos], [
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
        for info in infos
    ]


def plain_application(application: ApplicationMetadata) -> PlainApplication:
    numbers: dict[TaskId, int] = {task: number for number, task in enumerate(application.task_infos())}
    shared: dict[int, dict[int, int]] = {}
    clients = [_client(client, numbers, shared) for client in application.streams_client_states().values()]
    workload = _workload(application.workload(), numbers)
    leader = application.leader_process_id()
    configs = application.assignment_configs()
    return PlainApplication(
        [(task.subtopology, task.partition, task.topology_name) for task in numbers],
        clients,
        tuple([getattr(configs, name) for name in _CONFIG_FIELDS]),
        application.current_time_ms(),
        None if leader is None else leader.id.int,
        workload,
    )


def _workload(workload: Workload | None, numbers: dict[TaskId, int]) -> Any:
    if workload is None:
        return None
    weights = [
        (numbers.setdefault(task, len(numbers)), each.state_bytes, each.input_bytes_per_s, each.weight)
        for task, each in workload.tasks.items()
    ]
    return weights, workload.restore_bytes_per_s


def _client(client: StreamsClientState, numbers: dict[TaskId, int], shared: dict[int, dict[int, int]]) -> PlainClient:
    def numbered(tasks: Collection[TaskId]) -> list[int]:
        try:
            return [numbers[task] for task in tasks]
        except KeyError:
            # Tasks that no longer exist follow those of the application.
            return [numbers.setdefault(task, len(numbers)) for task in tasks]

    lags = client._lags
    if lags is not None and id(lags) not in shared:
        shared[id(lags)] = dict(zip(numbered(lags), lags.values(), strict=True))
    before = client._previous_tasks_by_consumer
    return PlainClient(
        client.process_id.id.int,
        client.num_stream_threads,
        client.consumers,
        numbered(client.previous_active_tasks),
        numbered(client.previous_standby_tasks),
        None if lags is None else shared[id(lags)],
        None if before is None else {consumer: numbered(tasks) for consumer, tasks in before.items()},
        None if client.host_info is None else (client.host_info.host, client.host_info.port),
        dict(client.client_tags),
        client.rack_id,
    )
