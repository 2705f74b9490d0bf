"""A group far beyond the scale set: 100,000 stateful tasks on 1,000 clients.

Clients start empty and share one table of lags: separate ones would have 10^8 entries and take gigabytes, in Java as
well.
"""

from __future__ import annotations

import uuid
from types import MappingProxyType

from assignment_api import (
    ApplicationMetadata,
    AssignmentConfigs,
    ProcessID,
    StreamsClientState,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
)

__all__ = ["CLIENTS", "TASKS", "large_group"]

TASKS = 100_000
CLIENTS = 1_000
_SUBTOPOLOGIES = 100


def large_group() -> ApplicationMetadata:
    tasks = [TaskId(number // (TASKS // _SUBTOPOLOGIES), number % (TASKS // _SUBTOPOLOGIES)) for number in range(TASKS)]
    lags = MappingProxyType(dict.fromkeys(tasks, 100_000))
    clients = [
        StreamsClientState(
            process_id=ProcessID(uuid.UUID(int=number + 1)),
            num_stream_threads=4,
            consumers=(f"app-{number}-consumer",),
            lags=lags,
        )
        for number in range(CLIENTS)
    ]
    return ApplicationMetadata(AssignmentConfigs(num_standby_replicas=1), [_info(task) for task in tasks], clients)


def _info(task: TaskId) -> TaskInfo:
    return TaskInfo(
        id=task,
        is_stateful=True,
        is_logged=True,
        state_store_names=("store",),
        topic_partitions=(
            TaskTopicPartition(f"in-{task.subtopology}", task.partition, is_source=True, is_changelog=False),
            TaskTopicPartition(f"app-{task.subtopology}-changelog", task.partition, is_source=False, is_changelog=True),
        ),
    )
