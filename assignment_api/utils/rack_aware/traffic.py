"""A task's partitions that are away from a rack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from assignment_api.errors import IllegalAssignmentStateError
from assignment_api.streams.tasks import TaskInfo, TaskTopicPartition

__all__ = ["NO_COST", "Partitions", "all_partitions", "costs_of", "crossings", "numbered_racks"]

Partitions = Callable[[TaskInfo], Sequence[TaskTopicPartition]]


def all_partitions(info: TaskInfo) -> tuple[TaskTopicPartition, ...]:
    """Source and changelog partitions; the public utility counts both for active tasks."""
    return info.topic_partitions or ()


def numbered_racks(racks: Iterable[str | None]) -> tuple[list[str | None], list[int]]:
    """Distinct racks in order of appearance, and each client's rack number."""
    numbers: dict[str | None, int] = {}
    numbered = [numbers.setdefault(rack, len(numbers)) for rack in racks]
    return list(numbers), numbered


#: Count of a task without partitions; never read.
NO_COST = -1


def crossings(
    infos: Iterable[TaskInfo], partitions: Partitions, racks: Sequence[str | None], without_partitions: int
) -> list[list[int]]:
    """For each rack and task the number of partitions without a replica there.

    Args:
        partitions: Selects a task's partitions.
        without_partitions: For a task without any: 0 in the public utilities, ``NO_COST`` in the internal optimiser.
    """
    counted: list[list[int]] = [[] for _ in racks]
    for info in infos:
        replicas = [partition.rack_ids or () for partition in partitions(info)]
        for row, rack in zip(counted, racks, strict=True):
            row.append(sum([rack not in racks_of for racks_of in replicas]) if replicas else without_partitions)
    return counted


def costs_of(counted: Sequence[Sequence[int]], tasks: Sequence[int], traffic_cost: int) -> list[list[int]]:
    """Traffic cost of ``tasks`` on each rack.

    Raises:
        IllegalAssignmentStateError: if a task has no partition (``NO_COST``).
    """
    if counted and NO_COST in [counted[0][task] for task in tasks]:
        raise IllegalAssignmentStateError("a task that reads or logs nothing has no TopicPartitions, thus no cost")
    return [[traffic_cost * row[task] for task in tasks] for row in counted]
