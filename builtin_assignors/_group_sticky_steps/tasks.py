"""Dense numbers of a topology's tasks: by sub-topology (as texts sort), then partition."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from assignment_api.group import TaskId, TasksBySubtopology, TopologyDescriber

__all__ = ["TopologyTasks"]


class TopologyTasks:
    """The tasks of ``topology`` as the numbers from 0 on; linear in their number."""

    __slots__ = ("bounds", "is_all_stateful", "partitions", "stateful", "subtopologies")

    def __init__(self, topology: TopologyDescriber) -> None:
        #: Sub-topology to the number of its first task, and to the one after its last task.
        self.bounds: dict[str, tuple[int, int]] = {}
        #: Of each task.
        self.subtopologies: list[str] = []
        self.partitions: list[int] = []
        self.stateful: list[bool] = []
        for subtopology in topology.subtopologies():
            size = topology.max_num_input_partitions(subtopology)
            first = len(self.partitions)
            self.bounds[subtopology] = (first, first + size)
            self.subtopologies += [subtopology] * size
            self.partitions += range(size)
            self.stateful += [topology.is_stateful(subtopology)] * size
        #: Whether every task can have standbys.
        self.is_all_stateful = all(self.stateful)

    def by_partition(self) -> list[int]:
        """The tasks ordered by partition, then sub-topology."""
        sizes = {end - first for first, end in self.bounds.values()}
        if len(sizes) == 1:
            return [first + partition for partition in range(sizes.pop()) for first, _ in self.bounds.values()]
        # Stable: tasks stand by sub-topology.
        return sorted(range(len(self.partitions)), key=self.partitions.__getitem__)

    def id_of(self, task: int) -> TaskId:
        """The id of the task with this number."""
        return TaskId(self.subtopologies[task], self.partitions[task])

    def grouped(self, tasks: Sequence[int]) -> TasksBySubtopology:
        """``tasks``, ascending, by sub-topology."""
        if len(tasks) == 1:
            return MappingProxyType({self.subtopologies[tasks[0]]: (self.partitions[tasks[0]],)})
        grouped: dict[str, list[int]] = {}
        for task in tasks:
            subtopology = self.subtopologies[task]
            if subtopology in grouped:
                grouped[subtopology].append(self.partitions[task])
            else:
                grouped[subtopology] = [self.partitions[task]]
        return MappingProxyType({key: tuple(partitions) for key, partitions in grouped.items()})
