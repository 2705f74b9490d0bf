"""From the SPI's values to numbers and back."""

from __future__ import annotations

from types import MappingProxyType

from assignment_api.group import NO_TASKS, GroupAssignment, GroupSpec, MemberAssignment, TaskId, TopologyDescriber
from builtin_assignors._group_sticky_steps.actives import place_actives
from builtin_assignors._group_sticky_steps.members import VisitedMembers, previous_actives, visited_members
from builtin_assignors._group_sticky_steps.placement import Placement
from builtin_assignors._group_sticky_steps.problem import Problem, Rules, TaskWithoutProcess
from builtin_assignors._group_sticky_steps.quota import Quota
from builtin_assignors._group_sticky_steps.standbys import place_standbys
from builtin_assignors._group_sticky_steps.tasks import TopologyTasks

__all__ = ["NoProcessError", "assigned"]

_NOTHING = MemberAssignment()


class NoProcessError(Exception):
    """There are tasks, but no members; the message is Kafka's."""

    def __init__(self, task: TaskId) -> None:
        super().__init__(f"No process available to assign active task {task}.")


def assigned(rules: Rules, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
    """Places every task; members come in the order of the input.

    Cost for T tasks, S standby copies, M members and P processes: T log T + (T + S) log P + M log M.

    Raises:
        NoProcessError: if there are tasks and no members.
    """
    tasks = TopologyTasks(topology)
    members = visited_members(group)
    problem = Problem(
        rules,
        members,
        tasks,
        group.configs.num_standby_replicas,
        previous_actives(members, tasks),
        rules.previous_standbys(members, tasks),
    )
    try:
        placement = _decide(problem)
    except TaskWithoutProcess as none:
        raise NoProcessError(tasks.id_of(none.task)) from None
    return _assignment(group, members, tasks, placement)


def _decide(problem: Problem) -> Placement:
    tasks, members = len(problem.tasks.partitions), len(problem.members.ids)
    has_standbys = problem.num_standbys > 0
    copies = problem.num_standbys * sum(problem.tasks.stateful)
    total_quota = Quota(tasks + copies, members) if has_standbys else Quota.none()
    placement = Placement(problem.members, tasks)
    by_partition = problem.tasks.by_partition()
    place_actives(problem, placement, by_partition, Quota(tasks, members), total_quota)
    if has_standbys:
        place_standbys(problem, placement, by_partition, total_quota)
    return placement


def _assignment(
    group: GroupSpec, members: VisitedMembers, tasks: TopologyTasks, placement: Placement
) -> GroupAssignment:
    ids, standbys = members.ids, placement.standbys
    actives: dict[int, list[int]] = {}
    for task, member in enumerate(placement.owners):
        if member in actives:
            actives[member].append(task)
        else:
            actives[member] = [task]
    targets = dict.fromkeys(group.members, _NOTHING)
    for member, held in actives.items():
        targets[ids[member]] = MemberAssignment(
            tasks.grouped(held), tasks.grouped(sorted(standbys[member])) if member in standbys else NO_TASKS
        )
    for member in standbys.keys() - actives.keys():
        targets[ids[member]] = MemberAssignment(standby_tasks=tasks.grouped(sorted(standbys[member])))
    return GroupAssignment(MappingProxyType(targets))
