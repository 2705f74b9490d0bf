"""Previous tasks of the members, by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from assignment_api.group import NO_TASKS, MemberAssignmentState, TasksBySubtopology
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
    several: Mapping[int, Sequence[int]]


def previous_actives(states: Sequence[MemberAssignmentState], tasks: TopologyTasks) -> Sequence[int]:
    """The member that had each task as active, -1 = nobody; of several the last one.

    Args:
        states: Of each member.
        tasks: The tasks there are; others may be among those of the members.
    """
    owners, several = _owners([state.active_tasks for state in states], tasks)
    for task, members in several.items():
        owners[task] = members[-1]
    return owners


def previous_standbys(states: Sequence[MemberAssignmentState], tasks: TopologyTasks) -> Candidates:
    """The members that had each task as standby, in their order; arguments as for :func:`previous_actives`."""
    return Candidates(*_owners([state.standby_tasks for state in states], tasks))


def _owners(holdings: Sequence[TasksBySubtopology], tasks: TopologyTasks) -> tuple[list[int], dict[int, list[int]]]:
    owners = [-1] * len(tasks.partitions)
    several: dict[int, list[int]] = {}
    bounds = tasks.bounds
    for member, held in enumerate(holdings):
        if held is not NO_TASKS:
            for subtopology, partitions in held.items():
                if subtopology in bounds:
                    first, end = bounds[subtopology]
                    for partition in partitions:
                        task = first + partition
                        if first <= task < end:
                            if owners[task] < 0:
                                owners[task] = member
                            else:
                                several.setdefault(task, [owners[task]]).append(member)
    return owners, several
