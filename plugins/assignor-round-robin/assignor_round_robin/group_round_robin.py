"""A broker-side assignor (KIP-1071) that only balances."""

from __future__ import annotations

import attrs

from assignment_api.group import (
    GroupAssignment,
    GroupAssignorError,
    GroupSpec,
    MemberAssignment,
    TaskAssignor,
    TaskId,
    TopologyDescriber,
)

__all__ = ["GroupRoundRobinTaskAssignor"]


class GroupRoundRobinTaskAssignor(TaskAssignor):
    """Gives members active tasks in turn; standbys go to the least loaded of other processes."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Place stateful tasks first, so that they are balanced.

        Raises:
            GroupAssignorError: if there are tasks and no members.
        """
        members = _by_turns(group)
        stateful = [task for task in _tasks(topology) if topology.is_stateful(task.subtopology_id)]
        stateless = [task for task in _tasks(topology) if not topology.is_stateful(task.subtopology_id)]
        if not members and (stateful or stateless):
            raise GroupAssignorError("the group has no member to run a task on")
        for number, task in enumerate([*stateful, *stateless]):
            members[number % len(members)].active.append(task)
        standbys = max(group.configs.num_standby_replicas, 0)
        for number, task in enumerate(stateful):
            _place_standbys(task, members, members[number % len(members)].process, standbys)
        return GroupAssignment({member.id: member.target() for member in members})


@attrs.define
class _Member:
    id: str
    process: str
    active: list[TaskId] = attrs.field(factory=list)
    standby: list[TaskId] = attrs.field(factory=list)

    def target(self) -> MemberAssignment:
        return MemberAssignment(_by_subtopology(self.active), _by_subtopology(self.standby))


def _by_turns(group: GroupSpec) -> list[_Member]:
    """The first member of every process, then the second ones, and so on; by ids."""
    of_process: dict[str, list[str]] = {}
    for member_id, member in sorted(group.members.items()):
        of_process.setdefault(member.metadata.process_id, []).append(member_id)
    most = max(map(len, of_process.values()), default=0)
    return [
        _Member(ids[turn], process)
        for turn in range(most)
        for process, ids in sorted(of_process.items())
        if turn < len(ids)
    ]


def _tasks(topology: TopologyDescriber) -> list[TaskId]:
    return [
        TaskId(subtopology, partition)
        for subtopology in topology.subtopologies()
        for partition in range(topology.max_num_input_partitions(subtopology))
    ]


def _place_standbys(task: TaskId, members: list[_Member], owner: str, standbys: int) -> None:
    """On processes without the task, as far as there are enough."""
    taken = {owner}
    for _ in range(standbys):
        free = [member for member in members if member.process not in taken]
        if not free:
            return
        taker = min(free, key=lambda member: len(member.active) + len(member.standby))
        taker.standby.append(task)
        taken.add(taker.process)


def _by_subtopology(tasks: list[TaskId]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for task in tasks:
        found.setdefault(task.subtopology_id, []).append(task.partition)
    return found
