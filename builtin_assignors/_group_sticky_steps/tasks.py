"""Dense numbers of a topology's tasks: by sub-topology (sorted as text), then partition."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from types import MappingProxyType

from assignment_api.group import NO_TASKS, MemberAssignment, TaskId, TasksBySubtopology, TopologyDescriber

__all__ = ["TopologyTasks", "tasks_of"]

_KNOWN_TOPOLOGIES = 4
_KNOWN_TARGETS = 1 << 14


class TopologyTasks:
    """The tasks of ``topology`` as numbers from 0, in linear time; shared and read-only."""

    __slots__ = ("_targets", "bounds", "by_partition", "partitions", "stateful", "subtopologies")

    def __init__(self, topology: TopologyDescriber) -> None:
        #: Sub-topology to the number of its first task, and to the number after its last one.
        self.bounds: dict[str, tuple[int, int]] = {}
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
        self.by_partition = self._by_partition()
        self._targets: dict[int, MemberAssignment] = {}

    def _by_partition(self) -> list[int]:
        sizes = {end - first for first, end in self.bounds.values()}
        if len(sizes) == 1:
            return [first + partition for partition in range(sizes.pop()) for first, _ in self.bounds.values()]
        # A stable sort: tasks are already ordered by sub-topology.
        return sorted(range(len(self.partitions)), key=self.partitions.__getitem__)

    def id_of(self, task: int) -> TaskId:
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

    def target(self, actives: Sequence[int], standbys: Sequence[int]) -> MemberAssignment:
        """The target of a member with these tasks, both ascending."""
        if len(actives) != 1 or len(standbys) > 1:
            return self._new_target(actives, standbys)
        # With about as many members as tasks, nearly all targets are of this form, and most repeat between calls.
        key = actives[0] * (len(self.partitions) + 1) + (standbys[0] + 1 if standbys else 0)
        found = self._targets.get(key)
        if found is None:
            if len(self._targets) >= _KNOWN_TARGETS:
                self._targets.clear()
            found = self._targets[key] = self._new_target(actives, standbys)
        return found

    def _new_target(self, actives: Sequence[int], standbys: Sequence[int]) -> MemberAssignment:
        return MemberAssignment(self._grouped(actives), self._grouped(standbys) if standbys else NO_TASKS)

    def _grouped(self, tasks: Sequence[int]) -> TasksBySubtopology:
        if not tasks:
            return NO_TASKS
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


#: The tasks of ``topology``, built once: calls repeat the topology.
tasks_of = lru_cache(maxsize=_KNOWN_TOPOLOGIES)(TopologyTasks)
