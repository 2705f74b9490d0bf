"""Applications as scenario documents."""

from __future__ import annotations

from typing import Any

import attrs

from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.client_state import StreamsClientState, lags_of
from assignment_api.streams.configs import ASSIGNMENT_KEYS, AssignmentConfigs
from assignment_api.streams.tasks import TaskInfo

__all__ = ["streams_document"]

_DEFAULTS = AssignmentConfigs()


def streams_document(state: ApplicationMetadata, name: str) -> dict[str, Any]:
    """A document of kind ``streams``."""
    configs = state.assignment_configs()
    values = {key: getattr(configs, field) for key, (field, _) in ASSIGNMENT_KEYS.items()}
    return {
        "format": 1,
        "kind": "streams",
        "id": name,
        "config": {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in values.items()
            if value != getattr(_DEFAULTS, ASSIGNMENT_KEYS[key][0])
        },
        "tasks": [_task(info) for info in state.task_infos().values()],
        "clients": [_client(client) for client in state.streams_client_states().values()],
        "source": {"time_ms": state.current_time_ms()},
        **_workload(state),
    }


def _workload(state: ApplicationMetadata) -> dict[str, Any]:
    workload = state.workload()
    if workload is None:
        return {}
    tasks = {str(task): attrs.asdict(weights) for task, weights in workload.tasks.items()}
    return {"workload": {"tasks": tasks, "restore_bytes_per_s": workload.restore_bytes_per_s}}


def _task(info: TaskInfo) -> dict[str, Any]:
    return {
        "id": str(info.id),
        "stateful": info.is_stateful,
        "logged": info.is_logged,
        "stores": list(info.state_store_names or ()),
        "partitions": [
            {
                "topic": each.topic,
                "partition": each.partition,
                "source": each.is_source,
                "changelog": each.is_changelog,
                "racks": list(each.rack_ids or ()),
            }
            for each in info.topic_partitions or ()
        ],
    }


def _client(client: StreamsClientState) -> dict[str, Any]:
    lags = lags_of(client)
    return {
        "process_id": str(client.process_id),
        "rack": client.rack_id,
        "tags": dict(client.client_tags),
        "host": None if client.host_info is None else str(client.host_info),
        "threads": client.num_stream_threads,
        "consumers": list(client.consumers),
        "previous_active": [str(task) for task in client.previous_active_tasks],
        "previous_standby": [str(task) for task in client.previous_standby_tasks],
        "lags": None if lags is None else {str(task): lag for task, lag in lags.items()},
        "previous_by_consumer": {
            consumer: [str(task) for task in client.previous_tasks_of(consumer)] for consumer in client.consumers
        },
    }
