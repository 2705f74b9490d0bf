"""Workload: weights of tasks. Kafka only counts tasks; other sources may know more."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.streams.ids import TaskId

__all__ = ["TaskWorkload", "Workload"]


@attrs.frozen
class TaskWorkload:
    """Weight of one task.

    Args:
        state_bytes: Size of its state, which has to be restored, or ``None``: unknown.
        input_bytes_per_s: Input from its source partitions, bytes per second, or ``None``: unknown.
        weight: Work compared with the other tasks of its group, or ``None``: unknown.
    """

    state_bytes: float | None = None
    input_bytes_per_s: float | None = None
    weight: float | None = None


_UNKNOWN = TaskWorkload()


@attrs.frozen
class Workload:
    """Weights of an application's tasks (scenario format, ``workload``).

    Args:
        tasks: Tasks with known weights.
        restore_bytes_per_s: Speed of restoring a task's state, bytes per second, or ``None``: unknown.
    """

    tasks: Mapping[TaskId, TaskWorkload]
    restore_bytes_per_s: float | None = None

    def of(self, task: TaskId) -> TaskWorkload:
        """Weight of ``task``; all figures are ``None`` if unknown."""
        return self.tasks.get(task, _UNKNOWN)
