"""Dense numbers of a topology's tasks: by sub-topology (as texts sort), then partition."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from types import MappingProxyType

from assignment_api.group import NO_TASKS, MemberAssignment, TaskId, TasksBySubtopology, TopologyDescriber

__all__ = ["TopologyTasks"]

#: Tasks whose values are kept: in groups with as many members as tasks they are most of the answer, every time anew.
_KNOWN_TASKS = 1 << 14


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

    def numbers_of(self, held: TasksBySubtopology) -> list[int]:
        """Numbers of the tasks in ``held`` that the topology has."""
        bounds = self.bounds
        numbers = []
        for subtopology, partitions in held.items():
            if subtopology in bounds:
                first, end = bounds[subtopology]
                for partition in partitions:
                    if first <= first + partition < end:
                        numbers.append(first + partition)  # noqa: PERF401 - mostly there is one: a list of its own costs more
        return numbers

    def active_target(self, tasks: Sequence[int], start: int, end: int) -> MemberAssignment:
        """The target of a member that gets the active tasks ``tasks[start:end]``, ascending, and no standbys."""
        if end - start == 1:
            return _single_target(self.subtopologies[tasks[start]], self.partitions[tasks[start]])
        return MemberAssignment(self.grouped(tasks, start, end))

    def grouped(self, tasks: Sequence[int], start: int, end: int) -> TasksBySubtopology:
        """``tasks[start:end]``, which are ascending, by sub-topology."""
        if end - start == 1:
            return _single(self.subtopologies[tasks[start]], self.partitions[tasks[start]])
        grouped: dict[str, list[int]] = {}
        for task in tasks[start:end]:
            subtopology = self.subtopologies[task]
            if subtopology in grouped:
                grouped[subtopology].append(self.partitions[task])
            else:
                grouped[subtopology] = [self.partitions[task]]
        if not grouped:
            return NO_TASKS
        return MappingProxyType({key: tuple(partitions) for key, partitions in grouped.items()})


@lru_cache(maxsize=_KNOWN_TASKS)
def _single(subtopology: str, partition: int) -> TasksBySubtopology:
    return MappingProxyType({subtopology: (partition,)})


@lru_cache(maxsize=_KNOWN_TASKS)
def _single_target(subtopology: str, partition: int) -> MemberAssignment:
    return MemberAssignment(_single(subtopology, partition))
