"""Racks of the partitions of all tasks, cached for states that share their tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from assignment_api.last_result import keeps_last
from assignment_api.streams.ids import TaskId, utf16_key
from assignment_api.streams.tasks import TaskInfo, TaskTopicPartition

__all__ = ["NO_COST", "Partitions", "TaskRacks", "all_partitions", "task_racks"]

#: Selects a task's partitions.
Partitions = Callable[[TaskInfo], Sequence[TaskTopicPartition]]

#: Count of a task without partitions; never read.
NO_COST = -1


def all_partitions(info: TaskInfo) -> tuple[TaskTopicPartition, ...]:
    """Source and changelog partitions; the public utility counts both for active tasks."""
    return info.topic_partitions or ()


class TaskRacks:
    """Facts about ``infos``, computed on first need; tasks are numbered in ascending order."""

    def __init__(self, infos: Mapping[TaskId, TaskInfo]) -> None:
        self.infos = infos
        self._missing: dict[Partitions, str | None] = {}
        self._crossed: dict[tuple[Partitions, str | None], list[int]] = {}

    @cached_property
    def tasks(self) -> list[TaskId]:
        """All, ascending."""
        return sorted(self.infos, key=TaskId.sort_key)

    @cached_property
    def groups(self) -> list[int]:
        """Number of each task's sub-topology in Kafka's order: by number, then by name, no name first."""
        keys = [(task.subtopology, utf16_key(task.topology_name or "")) for task in self.tasks]
        numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
        return [numbers[key] for key in keys]

    def crossed(self, partitions: Partitions, rack: str | None) -> list[int]:
        """For each task the number of partitions without a replica in ``rack``; ``NO_COST`` if it has none."""
        known = self._crossed.get((partitions, rack))
        if known is None:
            replicas = [[partition.rack_ids or () for partition in partitions(self.infos[task])] for task in self.tasks]
            known = self._crossed[partitions, rack] = [
                sum([rack not in racks for racks in of_task]) if of_task else NO_COST for of_task in replicas
            ]
        return known

    def missing(self, partitions: Partitions) -> str | None:
        """The first partition without known racks, or ``None``."""
        if partitions not in self._missing:
            self._missing[partitions] = self._first_missing(partitions)
        return self._missing[partitions]

    def _first_missing(self, partitions: Partitions) -> str | None:
        for task, info in self.infos.items():
            if info.topic_partitions is None:
                return f"the partitions of task {task} are unknown"
            for partition in partitions(info):
                if not partition.rack_ids:
                    return f"the racks of partition {partition.topic}-{partition.partition} of task {task} are unknown"
        return None


@keeps_last  # the rounds of a group, and its assignors, come one after another
def task_racks(infos: Mapping[TaskId, TaskInfo]) -> TaskRacks:
    """The facts about an application's ``task_infos()``, cached for states that share them."""
    return TaskRacks(infos)
