"""Targets of a simulated streams group, from the broker's knowledge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import attrs

from assignment_api.group import (
    AssignmentConfigs,
    GroupAssignment,
    GroupSpec,
    MemberAssignmentState,
    MemberMetadata,
    Subtopology,
    TopologyDescriber,
)
from assignment_api.group import GroupMember as AssignorsMember
from assignment_api.group import TaskId as GroupTaskId
from assignment_api.streams import TaskId, TaskInfo
from assignor_lab.kafka.streams_group.group import StreamsGroupMember
from assignor_lab.kafka.streams_group.tasks import TasksByRole

__all__ = ["Targets"]


class Targets:
    """Calls an assignor.

    Args:
        tasks: All tasks; their index is their number.
    """

    def __init__(
        self,
        tasks: Iterable[TaskInfo],
        configs: AssignmentConfigs,
        ask: Callable[[GroupSpec, TopologyDescriber], GroupAssignment],
    ) -> None:
        self._infos = list(tasks)
        self._ids = [GroupTaskId(_subtopology(info.id), info.id.partition) for info in self._infos]
        self.exist(frozenset(range(len(self._infos))))
        self._configs = configs
        self._ask = ask

    def exist(self, tasks: frozenset[int]) -> None:
        self.existing, numbers = tasks, sorted(tasks)
        self._number = {(self._ids[each].subtopology_id, self._ids[each].partition): each for each in numbers}
        self._topology = _topology(self._infos[number] for number in numbers)
        #: Cache of each member's last input value with its sources: most do not change.
        self._shown: dict[str, tuple[TasksByRole, Mapping[int, int], AssignorsMember]] = {}

    def order(self, task: int) -> tuple[bytes, int]:
        return self._ids[task].sort_key()

    def of(
        self,
        members: Iterable[StreamsGroupMember],
        metadata: Mapping[str, MemberMetadata],
        offsets: Mapping[str, Mapping[int, int]],
    ) -> dict[str, TasksByRole]:
        """Member to its target.

        Raises:
            LeaderFailedError: if the assignor fails.
        """
        shown = {each.id: self._shown_as(each, metadata[each.id], offsets.get(each.id, {})) for each in members}
        answer = self._ask(GroupSpec(shown, self._configs), self._topology)
        return {
            member: TasksByRole(
                self._numbers(target.active_tasks),
                self._numbers(target.standby_tasks),
                self._numbers(target.warmup_tasks),
            )
            for member, target in answer.members.items()
        }

    def _shown_as(
        self, member: StreamsGroupMember, metadata: MemberMetadata, offsets: Mapping[int, int]
    ) -> AssignorsMember:
        known = self._shown.get(member.id)
        if known is not None and known[0] == member.tasks and known[1] == offsets:
            return known[2]
        made = self._member(member, metadata, offsets)
        self._shown[member.id] = (member.tasks, offsets, made)
        return made

    def _member(
        self, member: StreamsGroupMember, metadata: MemberMetadata, offsets: Mapping[int, int]
    ) -> AssignorsMember:
        reported = {self._ids[task]: at for task, at in offsets.items() if task in self.existing}
        state = MemberAssignmentState(
            self._by_subtopology(member.tasks.active),
            self._by_subtopology(member.tasks.standby),
            self._by_subtopology(member.tasks.warmup),
            reported,
        )
        return AssignorsMember(metadata, state)

    def _by_subtopology(self, tasks: Iterable[int]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for task in sorted(self.existing.intersection(tasks)):
            task_id = self._ids[task]
            found.setdefault(task_id.subtopology_id, []).append(task_id.partition)
        return found

    def _numbers(self, tasks: Mapping[str, Iterable[int]]) -> frozenset[int]:
        if not tasks:
            return _NONE
        number = self._number
        return frozenset([
            number[subtopology, partition]
            for subtopology, partitions in tasks.items()
            for partition in partitions
            if (subtopology, partition) in number
        ])  # fmt: skip


_NONE: frozenset[int] = frozenset()


def _subtopology(task: TaskId) -> str:
    return str(task).rpartition("_")[0]


def _topology(infos: Iterable[TaskInfo]) -> TopologyDescriber:
    """A sub-topology has as many tasks as its greatest partition implies."""
    found: dict[str, Subtopology] = {}
    for info in infos:
        name, size = _subtopology(info.id), info.id.partition + 1
        known = found.get(name, Subtopology(name, size, is_stateful=False))
        found[name] = attrs.evolve(
            known, num_tasks=max(known.num_tasks, size), is_stateful=known.is_stateful or info.is_logged
        )
    return TopologyDescriber(found.values())
