"""The workload: weights of tasks. Kafka only counts them; a source that knows more may say so."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.streams.ids import TaskId

__all__ = ["TaskWorkload", "Workload"]


@attrs.frozen
class TaskWorkload:
    """What one task weighs.

    Args:
        state_bytes: Size of its state, which is what has to be restored, or ``None``: unknown.
        input_bytes_per_s: What it reads from its source partitions in a second, or ``None``: unknown.
        weight: How much work it is in comparison with the other tasks of its group, or ``None``: unknown.
    """

    state_bytes: float | None = None
    input_bytes_per_s: float | None = None
    weight: float | None = None


_UNKNOWN = TaskWorkload()


@attrs.frozen
class Workload:
    """What the tasks of an application weigh (scenario format, ``workload``).

    Args:
        tasks: Tasks of which something is known.
        restore_bytes_per_s: How fast a task restores its state, or ``None``: unknown.
    """

    tasks: Mapping[TaskId, TaskWorkload]
    restore_bytes_per_s: float | None = None

    def of(self, task: TaskId) -> TaskWorkload:
        """What ``task`` weighs; with nothing known of it, all of its figures are ``None``."""
        return self.tasks.get(task, _UNKNOWN)
