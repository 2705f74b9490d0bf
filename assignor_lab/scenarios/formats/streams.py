"""Documents of kind ``streams``: their shape, and how they become values of the SPI.

The line between a wrong file and a failing assignment: what is refused here is not in the format. What is in the
format but would make Kafka fail (a config value out of its range, a task without a lag entry, named beside unnamed
tasks) passes, and comes up when the application is built or assigned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from assignment_api.errors import ProcessIdFormatError, TaskIdFormatError
from assignment_api.streams import (
    HostInfo,
    ProcessID,
    StreamsClientState,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
    TaskWorkload,
    Workload,
)
from assignor_lab.scenarios.errors import printable
from assignor_lab.scenarios.scenario import StreamsContent
from assignor_lab.scenarios.shapes import (
    INT_MAX,
    LONG_MAX,
    LONG_MIN,
    Check,
    Mismatch,
    boolean,
    count,
    described,
    list_of,
    map_of,
    nullable,
    number,
    one_of,
    record,
    text,
    whole,
)

__all__ = ["read_streams", "workload"]

_HOST = re.compile(r"(?P<host>.+):(?P<port>[0-9]{1,5})\Z", re.DOTALL)
_MAX_PORT = 65_535
_EPOCH_MS = whole(0, LONG_MAX)
# Ranges are Kafka's business: a number of the wrong size is a failing assignment, not a wrong file. The limit is there
# because Python takes its time over a number of thousands of digits.
_CONFIG_NUMBER = whole(-(2**127), 2**127 - 1)
_CONFIG_COST = nullable(_CONFIG_NUMBER)
_CONFIG: Check[dict[str, Any]] = record(
    {},
    {
        "num.standby.replicas": _CONFIG_NUMBER,
        "max.warmup.replicas": _CONFIG_NUMBER,
        "acceptable.recovery.lag": _CONFIG_NUMBER,
        "probing.rebalance.interval.ms": _CONFIG_NUMBER,
        "rack.aware.assignment.tags": list_of(text),
        "rack.aware.assignment.strategy": text,
        "rack.aware.assignment.traffic_cost": _CONFIG_COST,
        "rack.aware.assignment.non_overlap_cost": _CONFIG_COST,
    },
)


class _TaskIds(dict[str, TaskId]):
    """Task ids by their text: each is parsed once for a document."""

    def __missing__(self, text_of_id: str) -> TaskId:
        try:
            task = TaskId.parse(text_of_id)
        except TaskIdFormatError:
            raise Mismatch(
                f'"{printable(text_of_id)}" is no task id: expected "subtopology_partition" such as "1_0", or '
                '"topology__subtopology_partition"'
            ) from None
        self[text_of_id] = task
        return task

    def check(self, value: Any) -> TaskId:
        return self[text(value)]


def _process_id(value: Any) -> ProcessID:
    try:
        return ProcessID.parse(text(value))
    except ProcessIdFormatError:
        raise Mismatch(
            f"{described(value)} is no process id: expected a UUID such as 00000000-0000-0000-0000-000000000001"
        ) from None


def _host(value: Any) -> HostInfo:
    match = _HOST.match(text(value))
    if match is None or not 0 <= int(match["port"]) <= _MAX_PORT:
        raise Mismatch(f'{described(value)} is no end point: expected "host:port" such as "host1:8080"')
    return HostInfo(match["host"], int(match["port"]))


_workload_of_task = record({}, {"state_bytes": number, "input_bytes_per_s": number, "weight": number})


def workload(tasks: Check[Any]) -> Check[dict[str, Any]]:
    """The optional ``workload`` of a scenario, with the check for its task names."""
    return record({}, {"tasks": map_of(tasks, _workload_of_task), "restore_bytes_per_s": number})


def read_streams(document: Mapping[str, Any]) -> StreamsContent:
    """Checks a document of kind ``streams`` and turns it into values.

    Raises:
        Mismatch: if it is not in the format.
    """
    ids = _TaskIds()
    content = _document_shape(ids)(document)
    tasks: list[TaskInfo] = content["tasks"]
    clients: list[StreamsClientState] = content["clients"]
    _refuse_repeated([task.id for task in tasks], "task", "tasks")
    _refuse_repeated([client.process_id for client in clients], "process id", "clients")
    _refuse_shared_consumers(clients)
    _refuse_lags_of_some(clients)
    _refuse_contradicting_racks(tasks)
    return StreamsContent(
        config=document["config"],
        tasks=tuple(tasks),
        clients=tuple(clients),
        time_ms=content.get("source", {}).get("time_ms", 0),
        workload=_workload(content.get("workload"), ids),
    )


def _workload(value: Mapping[str, Any] | None, ids: _TaskIds) -> Workload | None:
    if value is None:
        return None
    tasks = {ids[task]: TaskWorkload(**known) for task, known in value.get("tasks", {}).items()}
    return Workload(tasks, value.get("restore_bytes_per_s"))


def _document_shape(ids: _TaskIds) -> Check[dict[str, Any]]:
    task_list = list_of(ids.check)
    placement = map_of(_process_id, record({"active": task_list, "standby": task_list}))
    spread = nullable(map_of(text, record({"active": task_list, "standby": task_list})))
    return record(
        {
            "format": whole(1, 1),
            "kind": one_of("streams"),
            "id": text,
            "config": _CONFIG,
            "tasks": list_of(_task_reader(ids)),
            "clients": list_of(_client_reader(ids)),
        },
        {
            "observed": record({"assignment": placement, "followup": nullable(boolean), "threads": spread}),
            "source": record(
                {}, {"file": text, "line": count, "time_ms": _EPOCH_MS, "group": text, "generation": whole(-1, INT_MAX)}
            ),
            "assumptions": list_of(text),
            "assignment": placement,
            "params": record(
                {},
                {
                    "tasks": _task_selection(task_list),
                    "traffic_cost": _CONFIG_COST,
                    "non_overlap_cost": _CONFIG_COST,
                    "via": one_of("legacy", "custom"),
                },
            ),
            "workload": workload(ids.check),
        },
    )


def _task_selection(task_list: Check[Any]) -> Check[Any]:
    named = one_of("all", "stateful", "stateless")
    return lambda value: task_list(value) if type(value) is list else named(value)


# --- tasks ----------------------------------------------------------------------------------------

_partition_shape = record(
    {
        "topic": text,
        "partition": count,
        "source": boolean,
        "changelog": boolean,
        "racks": nullable(list_of(text)),
    }
)


def _partition(value: Any) -> TaskTopicPartition:
    fields = _partition_shape(value)
    if not fields["source"] and not fields["changelog"]:
        raise Mismatch("neither a source nor a changelog: set one of the two, or leave the partition out")
    racks = fields["racks"]
    return TaskTopicPartition(
        topic=fields["topic"],
        partition=fields["partition"],
        is_source=fields["source"],
        is_changelog=fields["changelog"],
        rack_ids=None if racks is None else tuple(racks),
    )


def _task_reader(ids: _TaskIds) -> Check[TaskInfo]:
    shape = record(
        {
            "id": ids.check,
            "stateful": boolean,
            "logged": boolean,
            "stores": nullable(list_of(text)),
            "partitions": nullable(list_of(_partition)),
        }
    )

    def read(value: Any) -> TaskInfo:
        fields = shape(value)
        stores: list[str] | None = fields["stores"]
        partitions: list[TaskTopicPartition] | None = fields["partitions"]
        if stores is not None and fields["stateful"] != bool(stores):
            raise _disagreement("stateful", fields["stateful"], "stores", f"there are {len(stores)} stores")
        if partitions is not None:
            _check_partitions(partitions, logged=fields["logged"])
        return TaskInfo(
            id=fields["id"],
            is_stateful=fields["stateful"],
            is_logged=fields["logged"],
            state_store_names=None if stores is None else tuple(stores),
            topic_partitions=None if partitions is None else tuple(partitions),
        )

    return read


def _check_partitions(partitions: list[TaskTopicPartition], *, logged: bool) -> None:
    if not any(partition.is_source for partition in partitions):
        raise Mismatch(
            "no source partition: every task reads one; add it, or give null where the partitions are unknown",
            "partitions",
        )
    changelogs = sum(partition.is_changelog for partition in partitions)
    if logged != bool(changelogs):
        raise _disagreement("logged", logged, "partitions", f"there are {changelogs} changelogs among the partitions")
    seen: set[tuple[str, int]] = set()
    for index, partition in enumerate(partitions):
        if (partition.topic, partition.partition) in seen:
            raise Mismatch(
                f"partition {partition.partition} of {printable(partition.topic)} occurs twice in the task: one entry "
                "may be source and changelog at once",
                "partitions",
                index,
            )
        seen.add((partition.topic, partition.partition))


def _disagreement(flag: str, value: bool, other: str, fact: str) -> Mismatch:  # noqa: FBT001 - it is data
    return Mismatch(f"{str(value).lower()}, but {fact}: correct {flag} or {other}", flag)


# --- clients --------------------------------------------------------------------------------------


def _client_reader(ids: _TaskIds) -> Check[StreamsClientState]:
    task_list = list_of(ids.check)
    shape = record(
        {
            "process_id": _process_id,
            "rack": nullable(text),
            "tags": map_of(text, text),
            "host": nullable(_host),
            "threads": count,
            "consumers": list_of(text),
            "previous_active": task_list,
            "previous_standby": task_list,
            "lags": nullable(_lags_reader(ids)),
            "previous_by_consumer": nullable(map_of(text, task_list)),
        }
    )

    def read(value: Any) -> StreamsClientState:
        fields = shape(value)
        for key in ("consumers", "previous_active", "previous_standby"):
            _refuse_repeated(fields[key], "entry", key)
        reported: dict[str, list[TaskId]] | None = fields["previous_by_consumer"]
        return StreamsClientState(
            process_id=fields["process_id"],
            num_stream_threads=fields["threads"],
            consumers=fields["consumers"],
            previous_active_tasks=fields["previous_active"],
            previous_standby_tasks=fields["previous_standby"],
            lags=fields["lags"],
            previous_tasks_by_consumer=(
                None if reported is None else {consumer: tuple(tasks) for consumer, tasks in reported.items()}
            ),
            host_info=fields["host"],
            client_tags=fields["tags"],
            rack_id=fields["rack"],
        )

    return read


def _lags_reader(ids: _TaskIds) -> Check[dict[TaskId, int]]:
    # A large group has a million entries: they are checked in bulk, and one by one only to name the wrong one.
    slowly = map_of(ids.check, whole(LONG_MIN, LONG_MAX))

    def read(value: Any) -> dict[TaskId, int]:
        if type(value) is not dict or not set(map(type, value.values())) <= {int}:
            slowly(value)
        if value and not (min(value.values()) >= LONG_MIN and max(value.values()) <= LONG_MAX):
            slowly(value)
        try:
            lags = {ids[task]: lag for task, lag in value.items()}
        except Mismatch:
            slowly(value)
            raise
        if len(lags) != len(value):
            _refuse_repeated([ids[task] for task in value], "task", list(value))
        return lags

    return read


# --- agreement of the parts -----------------------------------------------------------------------


def _refuse_repeated(values: list[Any], what: str, container: str | list[str]) -> None:
    if len(set(values)) == len(values):
        return
    first: dict[Any, int] = {}
    for index, value in enumerate(values):
        if value in first:
            path = (container, index) if isinstance(container, str) else (container[index],)
            raise Mismatch(f"{what} {printable(str(value))} occurs twice: remove one of the two", *path)
        first[value] = index


def _refuse_shared_consumers(clients: list[StreamsClientState]) -> None:
    owner: dict[str, int] = {}
    for index, client in enumerate(clients):
        for consumer in client.consumers:
            if consumer in owner:
                raise Mismatch(
                    f"consumer {printable(consumer)} belongs to clients[{owner[consumer]}] already: consumer ids are "
                    "unique in a group",
                    "clients",
                    index,
                    "consumers",
                )
            owner[consumer] = index


def _refuse_lags_of_some(clients: list[StreamsClientState]) -> None:
    if not clients:
        return
    first = clients[0].has_lags()
    for index, client in enumerate(clients):
        if client.has_lags() != first:
            raise Mismatch(
                "null in some clients only: the end offsets were fetched for all clients or for none; give lags "
                "everywhere, or null everywhere",
                "clients",
                index if first else 0,
                "lags",
            )


def _refuse_contradicting_racks(tasks: list[TaskInfo]) -> None:
    seen: dict[tuple[str, int], tuple[TaskId, frozenset[str]]] = {}
    for task_index, task in enumerate(tasks):
        for index, partition in enumerate(task.topic_partitions or ()):
            # Unknown is written as null or as []; racks have no order.
            racks = frozenset(partition.rack_ids or ())
            other, known = seen.setdefault((partition.topic, partition.partition), (task.id, racks))
            if known != racks:
                raise Mismatch(
                    f"partition {partition.partition} of {printable(partition.topic)} has other racks here than in "
                    f"task {other}: a partition has one set of replicas",
                    "tasks",
                    task_index,
                    "partitions",
                    index,
                    "racks",
                )
