"""How many partitions of a task are away from a rack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from assignment_api.errors import IllegalAssignmentStateError
from assignment_api.streams.tasks import TaskInfo, TaskTopicPartition

__all__ = ["Partitions", "all_partitions", "crossings", "numbered_racks"]

Partitions = Callable[[TaskInfo], Sequence[TaskTopicPartition]]


def all_partitions(info: TaskInfo) -> tuple[TaskTopicPartition, ...]:
    """Source and changelog partitions of a task, which the public utility counts for active tasks."""
    return info.topic_partitions or ()


def numbered_racks(racks: Iterable[str | None]) -> tuple[list[str | None], list[int]]:
    """The distinct racks in order of appearance, and the number of each client's rack."""
    numbers: dict[str | None, int] = {}
    numbered = [numbers.setdefault(rack, len(numbers)) for rack in racks]
    return list(numbers), numbered


def crossings(infos: Iterable[TaskInfo], partitions: Partitions, racks: Sequence[str | None]) -> list[list[int]]:
    """For each rack and task the number of the task's partitions without a replica there.

    A task without any such partition counts -1: it has no cost, and asking for it is an error.
    """
    counted: list[list[int]] = [[] for _ in racks]
    for info in infos:
        replicas = [partition.rack_ids or () for partition in partitions(info)]
        for row, rack in zip(counted, racks, strict=True):
            row.append(sum(rack not in racks_of for racks_of in replicas) if replicas else -1)
    return counted


def costs_of(counted: Sequence[Sequence[int]], tasks: Sequence[int], traffic_cost: int) -> list[list[int]]:
    """Traffic cost of ``tasks`` on each rack.

    Raises:
        IllegalAssignmentStateError: if a task has no partition that could cross a rack.
    """
    for task in tasks:
        if counted and counted[0][task] < 0:
            raise IllegalAssignmentStateError(
                "a task without partitions has no traffic cost. Maybe forgot to call canEnableRackAwareAssignor first"
            )
    return [[traffic_cost * row[task] for task in tasks] for row in counted]
