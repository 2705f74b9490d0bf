"""Conversion between the SPI's groups and dense numbers, for the brokers' sticky assignors."""

from __future__ import annotations

from types import MappingProxyType

from assignment_api.group import (
    GroupAssignment,
    GroupSpec,
    InvalidGroupError,
    MemberAssignment,
    TaskId,
    TopologyDescriber,
)
from assignment_api.java import int32
from assignment_api.tracing import RuleStep
from builtin_assignors._group_sticky_steps.actives import place_actives
from builtin_assignors._group_sticky_steps.layout import layout_of
from builtin_assignors._group_sticky_steps.placement import GroupStickyPlacement
from builtin_assignors._group_sticky_steps.previous import previous_actives
from builtin_assignors._group_sticky_steps.problem import GroupStickyProblem, Rules, TaskWithoutProcess
from builtin_assignors._group_sticky_steps.quota import Quota
from builtin_assignors._group_sticky_steps.standbys import place_standbys
from builtin_assignors._group_sticky_steps.tasks import TopologyTasks, tasks_of
from builtin_assignors._group_sticky_steps.tracing import GroupSteps
from builtin_assignors._steps_taken import SILENT

__all__ = ["NoProcessError", "assigned"]

_NOTHING = MemberAssignment()


class NoProcessError(Exception):
    """The group has tasks, but no members; the message is Kafka's."""

    def __init__(self, task: TaskId) -> None:
        super().__init__(f"No process available to assign active task {task}.")


def assigned(
    rules: Rules, group: GroupSpec, topology: TopologyDescriber, found: list[RuleStep] | None = None
) -> GroupAssignment:
    """Place every task; members come in the order of the input.

    Cost for T tasks, S standby copies, M members and P processes: T log T + (T + S) log P + M log M.

    Raises:
        NoProcessError: if there are tasks and no members.
        InvalidGroupError: for 2**31 or more standbys, where Kafka fails, too.
    """
    tasks = tasks_of(topology)
    layout = layout_of(group)
    members = list(group.members.values())
    states = [members[place].state for place in layout.visits]
    problem = GroupStickyProblem(
        rules,
        layout,
        tasks,
        group.configs.num_standby_replicas,
        previous_actives(states, tasks),
        rules.candidates(states, tasks),
    )
    steps: GroupSteps = SILENT
    if found is not None:
        texts = [str(tasks.id_of(task)) for task in range(len(tasks.partitions))]
        steps = GroupSteps(texts, layout.ids)
    try:
        answer = _decided(problem, group, steps)
    except TaskWithoutProcess as none:
        raise NoProcessError(tasks.id_of(none.task)) from None
    if found is not None:
        found += steps.steps
    return answer


def _decided(problem: GroupStickyProblem, group: GroupSpec, steps: GroupSteps) -> GroupAssignment:
    tasks, members = len(problem.tasks.partitions), len(problem.layout.ids)
    has_standbys = problem.num_standbys > 0
    # Kafka counts in ints, which overflow at a million standbys for each of a few thousand tasks.
    copies = int32(problem.num_standbys * sum(problem.tasks.stateful))
    total_quota = Quota(int32(tasks + copies), members) if has_standbys else Quota.none()
    placement = GroupStickyPlacement(problem.layout, tasks)
    place_actives(problem, placement, Quota(tasks, members), total_quota, steps)
    actives = placement.counts.copy()
    if has_standbys:
        if copies < 0:
            raise InvalidGroupError(
                f"num.standby.replicas: {problem.num_standbys}: these are more standbys than Kafka can count; "
                "give a smaller number"
            )
        place_standbys(problem, placement, total_quota, steps)
    return _assignment(group, problem.tasks, placement, actives)


def _assignment(
    group: GroupSpec, tasks: TopologyTasks, placement: GroupStickyPlacement, active_counts: list[int]
) -> GroupAssignment:
    number = len(tasks.partitions)
    targets = dict.fromkeys(group.members, _NOTHING)
    # By member, and each member's tasks ascending.
    actives = sorted(range(number), key=placement.owners.__getitem__)
    standbys = [standby % number for standby in sorted(placement.standbys)]
    first_active = first_standby = 0
    for member_id, count, active_count in zip(placement.layout.ids, placement.counts, active_counts, strict=True):
        if not count:
            continue
        end_active = first_active + active_count
        end_standby = first_standby + count - active_count
        targets[member_id] = tasks.target(actives[first_active:end_active], standbys[first_standby:end_standby])
        first_active, first_standby = end_active, end_standby
    return GroupAssignment(MappingProxyType(targets))
