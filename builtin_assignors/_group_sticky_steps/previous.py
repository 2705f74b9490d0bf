"""Previous tasks of the members, by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from assignment_api.group import NO_TASKS, MemberAssignmentState, TasksBySubtopology
from builtin_assignors._group_sticky_steps.tasks import TopologyTasks

__all__ = ["ReturnCandidates", "previous_actives", "previous_standbys"]


@attrs.frozen
class ReturnCandidates:
    """Members to which each task may return as standby or be promoted.

    Args:
        first: The first candidate of each task, -1 = none.
        several: Task to all its candidates in order, where it has more than one.
    """

    first: Sequence[int]
    several: Mapping[int, Sequence[int]]


def previous_actives(states: Sequence[MemberAssignmentState], tasks: TopologyTasks) -> Sequence[int]:
    """Previous active owner of each task, -1 = none; the last one if there are several."""
    owners, several = _owners([state.active_tasks for state in states], tasks)
    for task, members in several.items():
        owners[task] = members[-1]
    return owners


def previous_standbys(states: Sequence[MemberAssignmentState], tasks: TopologyTasks) -> ReturnCandidates:
    """Previous standby owners of each task, in their order; arguments as for :func:`previous_actives`."""
    return ReturnCandidates(*_owners([state.standby_tasks for state in states], tasks))


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
