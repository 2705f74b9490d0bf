"""What the members had, by task."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignment_api.group import NO_TASKS, MemberAssignmentState
from builtin_assignors._group_sticky_steps.tasks import TopologyTasks

__all__ = ["Candidates", "previous_actives", "previous_standbys"]


@attrs.frozen
class Candidates:
    """The members to which each task may return as standby, or be promoted.

    Args:
        first: The one that is asked first, -1 = nobody; of each task.
        several: Task to all of them in the order in which they are asked, where there is more than one.
    """

    first: Sequence[int]
    several: dict[int, list[int]]


def previous_actives(states: Sequence[MemberAssignmentState], tasks: TopologyTasks) -> list[int]:
    """The member that had each task as active, -1 = nobody; of several the last one.

    Args:
        states: Of each member.
        tasks: The tasks there are; others may be among those of the members.
    """
    owners = [-1] * len(tasks.partitions)
    for member, state in enumerate(states):
        if state.active_tasks is not NO_TASKS:
            for task in tasks.numbers_of(state.active_tasks):
                owners[task] = member
    return owners


def previous_standbys(states: Sequence[MemberAssignmentState], tasks: TopologyTasks) -> Candidates:
    """The members that had each task as standby, in their order; arguments as for :func:`previous_actives`."""
    owners = [-1] * len(tasks.partitions)
    several: dict[int, list[int]] = {}
    for member, state in enumerate(states):
        if state.standby_tasks is not NO_TASKS:
            for task in tasks.numbers_of(state.standby_tasks):
                if owners[task] < 0:
                    owners[task] = member
                else:
                    several.setdefault(task, [owners[task]]).append(member)
    return Candidates(owners, several)
