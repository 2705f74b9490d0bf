"""States of groups to time assignors on: seeded, and the same on every machine."""

from __future__ import annotations

import random
import uuid
from typing import Any

import attrs

from assignment_api import (
    LATEST_OFFSET,
    ApplicationMetadata,
    AssignmentConfigs,
    ProcessID,
    StreamsClientState,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
)

SUBTOPOLOGIES = 4


@attrs.frozen
class Shape:
    """Size of a group.

    Args:
        clients: Number of clients, two threads each.
        tasks: Number of tasks, all stateful, in four sub-topologies.
        standbys: Standby replicas.
    """

    clients: int
    tasks: int
    standbys: int

    @property
    def name(self) -> str:
        """The shape as people call it."""
        return f"{self.clients}x{self.tasks}-{self.standbys}standby"


#: From an ordinary application to a large one.
SHAPES = (Shape(4, 40, 1), Shape(10, 200, 1), Shape(50, 1000, 1), Shape(100, 4000, 1))


def state(shape: Shape, seed: int) -> ApplicationMetadata:
    """A group that ran in balance until one client in ten came new, with empty disks."""
    chance = random.Random(f"{shape.name}/{seed}")
    tasks = [TaskId(number % SUBTOPOLOGIES, number // SUBTOPOLOGIES) for number in range(shape.tasks)]
    old = shape.clients - max(1, shape.clients // 10)
    actives: list[list[TaskId]] = [[] for _ in range(shape.clients)]
    standbys: list[list[TaskId]] = [[] for _ in range(shape.clients)]
    lags: list[dict[Any, int]] = [dict.fromkeys(tasks, 1_000_000) for _ in range(shape.clients)]
    for number, task in enumerate(tasks):
        owner = number % old
        actives[owner].append(task)
        lags[owner][task] = LATEST_OFFSET
        for replica in range(1, min(shape.standbys, old - 1) + 1):
            holder = (owner + replica) % old
            standbys[holder].append(task)
            lags[holder][task] = chance.randrange(20_000)
    clients = [
        StreamsClientState(
            process_id=ProcessID(uuid.UUID(int=place + 1)),
            num_stream_threads=2,
            consumers=(f"bench-{place}-1-consumer", f"bench-{place}-2-consumer"),
            previous_active_tasks=tuple(actives[place]),
            previous_standby_tasks=tuple(standbys[place]),
            lags=lags[place],
        )
        for place in range(shape.clients)
    ]
    return ApplicationMetadata(
        AssignmentConfigs(num_standby_replicas=shape.standbys), [_info(task) for task in tasks], clients
    )


def _info(task: TaskId) -> TaskInfo:
    return TaskInfo(
        id=task,
        is_stateful=True,
        is_logged=True,
        state_store_names=("store",),
        topic_partitions=(
            TaskTopicPartition(f"in-{task.subtopology}", task.partition, is_source=True, is_changelog=False),
            TaskTopicPartition(
                f"bench-{task.subtopology}-changelog", task.partition, is_source=False, is_changelog=True
            ),
        ),
    )
