"""Documents of kind ``streams``: their shape, and their values of the SPI.

A wrong file differs from a failing assignment: documents outside the format are refused here. Documents inside the
format on which Kafka would fail (a config value out of its range, a task without a lag entry, named beside unnamed
tasks) pass, and fail when the application is built or assigned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from assignment_api.streams import (
    HostInfo,
    StreamsClientState,
    TaskId,
    TaskWorkload,
    Workload,
)
from assignor_lab.documents.errors import printable
from assignor_lab.documents.shapes import (
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
from assignor_lab.scenarios.formats.ids import ProcessIds, TaskIds, refuse_repeated
from assignor_lab.scenarios.formats.streams_tasks import tasks_reader
from assignor_lab.scenarios.scenario import StreamsContent
from assignor_lab.scenarios.settings import check_settings

__all__ = ["read_streams", "workload"]

_HOST = re.compile(r"\A(?P<host>.+):(?P<port>[0-9]{1,5})\Z", re.DOTALL)
_MAX_PORT = 65_535
_EPOCH_MS = whole(0, LONG_MAX)
# Kafka checks the ranges: a number of the wrong size is a failing assignment, not a wrong file. The limit exists
# because Python is slow with numbers of thousands of digits.
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


def _check_events(value: Any) -> Any:
    from assignor_lab.scenarios.formats.events import check_events  # few files have events

    return check_events(value)


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
    return _READ(document)


def _streams_reader() -> Callable[[Mapping[str, Any]], StreamsContent]:
    shape = _document_shape(TaskIds(), ProcessIds())

    def read(document: Mapping[str, Any]) -> StreamsContent:
        content = shape(document)
        clients: list[StreamsClientState] = content["clients"]
        refuse_repeated([client.process_id for client in clients], "process id", "clients")
        _refuse_shared_consumers(clients)
        _refuse_lags_of_some(clients)
        return StreamsContent(
            config=document["config"],
            tasks=content["tasks"],
            clients=tuple(clients),
            time_ms=content.get("source", {}).get("time_ms", 0),
            workload=content.get("workload"),
        )

    return read


def _workload_reader(ids: TaskIds) -> Check[Workload]:
    shape = workload(ids.one)

    def read(value: Any) -> Workload:
        fields = shape(value)
        tasks = {ids[task]: TaskWorkload(**known) for task, known in fields.get("tasks", {}).items()}
        return Workload(tasks, fields.get("restore_bytes_per_s"))

    return read


def _document_shape(ids: TaskIds, process_ids: ProcessIds) -> Check[dict[str, Any]]:
    task_list = ids.all
    placement = map_of(process_ids.one, record({"active": task_list, "standby": task_list}))
    spread = nullable(map_of(text, record({"active": task_list, "standby": task_list})))
    return record(
        {
            "format": whole(1, 1),
            "kind": one_of("streams"),
            "id": text,
            "config": _CONFIG,
            "tasks": tasks_reader(ids),
            "clients": list_of(_client_reader(ids, process_ids)),
        },
        {
            "settings": check_settings,
            "observed": record({"assignment": placement, "followup": nullable(boolean), "threads": spread}),
            "source": record(
                {},
                {
                    "file": text,
                    "line": count,
                    "time_ms": _EPOCH_MS,
                    "group": text,
                    "generation": whole(-1, INT_MAX),
                    "prepared_ms": _EPOCH_MS,
                    "reason": text,
                    "assignor": text,
                    "events": _check_events,
                    "hosts": map_of(text, text),
                    "done": list_of(
                        record(
                            {"time_ms": whole(LONG_MIN, LONG_MAX), "type": text, "client": text},
                            {"tasks": list_of(text)},
                        )
                    ),
                    "restored": list_of(
                        record(
                            {
                                "time_ms": whole(LONG_MIN, LONG_MAX),
                                "client": text,
                                "task": text,
                                "store": text,
                                "records": whole(0, LONG_MAX),
                            }
                        )
                    ),
                    "waits": list_of(
                        record(
                            {
                                "time_ms": whole(LONG_MIN, LONG_MAX),
                                "client": text,
                                "type": one_of("assign", "read", "miss", "revoke"),
                                "ms": whole(0, LONG_MAX),
                            }
                        )
                    ),
                },
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
            "workload": _workload_reader(ids),
        },
    )


def _task_selection(task_list: Check[Any]) -> Check[Any]:
    named = one_of("all", "stateful", "stateless")
    return lambda value: task_list(value) if type(value) is list else named(value)


# --- clients --------------------------------------------------------------------------------------


def _client_reader(ids: TaskIds, process_ids: ProcessIds) -> Check[StreamsClientState]:
    task_list = ids.all
    shape = record(
        {
            "process_id": process_ids.one,
            "rack": nullable(text),
            "tags": map_of(text, text),
            "host": nullable(_host),
            "threads": count,
            "consumers": list_of(text),
            "previous_active": task_list,
            "previous_standby": task_list,
            "lags": nullable(_lags_reader(ids)),
            "previous_by_consumer": nullable(map_of(text, task_list)),
        },
        {"members": map_of(text, record({"client_id": nullable(text), "instance_id": nullable(text)}))},
    )

    def read(value: Any) -> StreamsClientState:
        fields = shape(value)
        for key in ("consumers", "previous_active", "previous_standby"):
            refuse_repeated(fields[key], "entry", key)
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


def _lags_reader(ids: TaskIds) -> Check[dict[TaskId, int]]:
    # A large group has a million entries: they are checked in bulk, and one by one only to name the wrong one.
    slowly = map_of(ids.one, whole(LONG_MIN, LONG_MAX))

    def read(value: Any) -> dict[TaskId, int]:
        if type(value) is not dict or not set(map(type, value.values())) <= {int}:
            slowly(value)
        if value and not (min(value.values()) >= LONG_MIN and max(value.values()) <= LONG_MAX):
            slowly(value)
        try:
            lags = dict(zip(map(ids.__getitem__, value), value.values(), strict=True))
        except Mismatch:
            slowly(value)
            raise
        if len(lags) != len(value):
            refuse_repeated([ids[task] for task in value], "task", keys=list(value))
        return lags

    return read


# --- agreement of the parts -----------------------------------------------------------------------


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


#: Ids are read once for all documents of a process.
_READ = _streams_reader()
