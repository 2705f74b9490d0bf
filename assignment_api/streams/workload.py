"""Weights of tasks, beyond Kafka's counts."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.streams.ids import TaskId

__all__ = ["TaskWorkload", "Workload"]


@attrs.frozen
class TaskWorkload:
    """Weight of a task; ``None``: unknown.

    Args:
        state_bytes: State to restore.
        input_bytes_per_s: Bytes per second from source partitions.
        weight: Work relative to other tasks of the group.
    """

    state_bytes: float | None = None
    input_bytes_per_s: float | None = None
    weight: float | None = None


_UNKNOWN = TaskWorkload()


@attrs.frozen
class Workload:
    """Weights of an application's tasks (scenario format, ``workload``).

    Args:
        restore_bytes_per_s: Speed of restoring state, bytes per second, or ``None``.
    """

    tasks: Mapping[TaskId, TaskWorkload]
    restore_bytes_per_s: float | None = None

    def of(self, task: TaskId) -> TaskWorkload:
        """Weight of ``task``; ``None`` for unknown figures."""
        return self.tasks.get(task, _UNKNOWN)
