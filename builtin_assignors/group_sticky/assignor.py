"""``group_sticky``: the coordinator's sticky assignor behind the SPI for Streams groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from assignment_api.group import (
    NO_TASKS,
    GroupAssignment,
    GroupAssignorError,
    GroupMember,
    GroupSpec,
    MemberAssignment,
    TaskAssignor,
    TaskId,
    TasksBySubtopology,
    TopologyDescriber,
)
from assignment_api.java import DEFAULT_CAPACITY, MAX_CHAIN, iteration_order, spread, string_hash
from assignment_api.streams.ids import utf16_key
from builtin_assignors.group_sticky.algorithm import Answer, Problem, TaskWithoutProcess, decide

__all__ = ["GroupStickyTaskAssignor"]

#: Java keeps the hash code in each string; a group's ids come again with every call.
_hash = lru_cache(maxsize=1 << 16)(string_hash)

_NOTHING = MemberAssignment()


class GroupStickyTaskAssignor(TaskAssignor):
    """The group coordinator's ``StickyTaskAssignor`` of Kafka 4.3.1 (KIP-1071), answer by answer.

    Tasks stay with the member that had them, else go to one that had them as standby, as long as nobody gets more than
    an even share; the rest fills the processes with the fewest tasks per member. Standbys likewise. Racks, tags,
    offsets and warm-ups are not looked at. Known faults of that release are part of its answers (reference 9).

    The order of the members is part of the input: ties are decided by hash order.
    """

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Places every task; members come in the order of the input.

        Raises:
            GroupAssignorError: if there are tasks and no members.
        """
        tasks = _Tasks(topology)
        visited = _hash_order(list(group.members))
        problem = _problem(group, [group.members[member] for member in visited], visited, tasks)
        try:
            answer = decide(problem)
        except TaskWithoutProcess as none:
            raise GroupAssignorError(f"No process available to assign active task {tasks.id_of(none.task)}.") from None
        return _assignment(group, visited, tasks, answer)


class _Tasks:
    """Dense numbers of a topology's tasks: by sub-topology, then partition."""

    __slots__ = ("first_of", "partitions", "sizes", "stateful", "subtopologies")

    def __init__(self, topology: TopologyDescriber) -> None:
        self.subtopologies: list[str] = []
        self.sizes: dict[str, int] = {}
        self.first_of: dict[str, int] = {}
        self.partitions: list[int] = []
        self.stateful: list[bool] = []
        for subtopology in topology.subtopologies():
            size = topology.max_num_input_partitions(subtopology)
            self.sizes[subtopology] = size
            self.first_of[subtopology] = len(self.partitions)
            self.partitions.extend(range(size))
            self.stateful.extend([topology.is_stateful(subtopology)] * size)
            self.subtopologies.extend([subtopology] * size)

    def id_of(self, task: int) -> TaskId:
        """The id of the task with this number."""
        return TaskId(self.subtopologies[task], self.partitions[task])

    def of(self, held: TasksBySubtopology) -> list[int]:
        """Numbers of the tasks in ``held`` that the topology has."""
        found = []
        for subtopology, partitions in held.items():
            first = self.first_of.get(subtopology)
            if first is not None:
                size = self.sizes[subtopology]
                found += [first + partition for partition in partitions if partition < size]
        return found

    def grouped(self, tasks: Sequence[int]) -> TasksBySubtopology:
        """``tasks``, ascending, by sub-topology."""
        if len(tasks) == 1:
            return MappingProxyType({self.subtopologies[tasks[0]]: (self.partitions[tasks[0]],)})
        by_subtopology: dict[str, list[int]] = {}
        for task in tasks:
            by_subtopology.setdefault(self.subtopologies[task], []).append(self.partitions[task])
        return MappingProxyType({key: tuple(partitions) for key, partitions in by_subtopology.items()})


def _hash_order(texts: Sequence[str], capacity: int = 16) -> list[str]:
    return iteration_order(texts, [_hash(text) for text in texts], capacity, utf16_key)


def _problem(group: GroupSpec, members: Sequence[GroupMember], ids: Sequence[str], tasks: _Tasks) -> Problem:
    processes: dict[str, int] = {}
    process_of = [processes.setdefault(member.metadata.process_id, len(processes)) for member in members]
    previous_actives: dict[int, int] = {}
    previous_standbys: dict[int, list[int]] = {}
    for number, member in enumerate(members):
        state = member.state
        if state.active_tasks:
            previous_actives.update(dict.fromkeys(tasks.of(state.active_tasks), number))
        if state.standby_tasks:
            for task in tasks.of(state.standby_tasks):
                previous_standbys.setdefault(task, []).append(number)
    return Problem(
        partitions=tasks.partitions,
        stateful=tasks.stateful,
        num_standbys=group.configs.num_standby_replicas,
        process_of=process_of,
        process_order=[processes[process] for process in _hash_order(list(processes), len(members))],
        heap_order=_heap_order(ids),
        previous_actives=previous_actives,
        previous_standbys=previous_standbys,
    )


def _heap_order(ids: Sequence[str]) -> Callable[[Sequence[int]], list[int]]:
    def slot(member: int) -> int:
        return spread(_hash(ids[member])) & DEFAULT_CAPACITY - 1

    def order(members: Sequence[int]) -> list[int]:
        if len(members) <= MAX_CHAIN:
            return sorted(members, key=slot)  # the table neither grows nor makes trees
        hashes = [_hash(ids[member]) for member in members]
        return iteration_order(members, hashes, sort_key=lambda member: utf16_key(ids[member]))

    return order


def _assignment(group: GroupSpec, visited: Sequence[str], tasks: _Tasks, answer: Answer) -> GroupAssignment:
    actives: dict[int, list[int]] = {}
    for task, member in enumerate(answer.owners):
        actives.setdefault(member, []).append(task)
    members: Mapping[str, MemberAssignment] = dict.fromkeys(group.members, _NOTHING)
    targets = {}
    for number in {**actives, **answer.standbys}:
        standbys = answer.standbys.get(number)
        targets[visited[number]] = MemberAssignment(
            tasks.grouped(actives[number]) if number in actives else NO_TASKS,
            tasks.grouped(sorted(standbys)) if standbys else NO_TASKS,
        )
    return GroupAssignment(MappingProxyType({**members, **targets}))
