"""The rules of ``group_sticky_4_4`` that are those of Kafka 4.4.0 alone (Kafka: the brokers' ``StickyTaskAssignor``).

What both releases share is in ``builtin_assignors/_group_sticky_steps``.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.group import MemberAssignmentState
from assignment_api.java import iteration_order_of_computed
from assignment_api.streams.ids import utf16_key
from builtin_assignors._group_sticky_steps import (
    Candidates,
    Choice,
    GroupLayout,
    Placement,
    Rules,
    TopologyTasks,
    previous_standbys,
    spreads_of,
)

__all__ = ["RULES"]

#: A member that only reports an offset for a task, and one that runs it as standby now; the greater one is asked first.
_STATE, _STANDBY = 0, 1
#: One of these, the offset, and the member's negative number: the greatest rank is asked first.
_Rank = tuple[int, int, int]
_NO_STANDBYS: dict[int, int] = {}


def _ranked_candidates(states: Sequence[MemberAssignmentState], tasks: TopologyTasks) -> Candidates:
    """The members that run a task as standby, then those that report an offset for it, the greatest offset first.

    Any offset makes a candidate, whatever its value and whatever else the member does with the task. Among equals the
    one that was visited first comes first.
    """
    if not any(state.task_offsets for state in states):
        return previous_standbys(states, tasks)
    bounds = tasks.bounds
    ranked: list[list[_Rank]] = [[] for _ in tasks.partitions]
    for member, state in enumerate(states):
        standby = dict.fromkeys(tasks.numbers_of(state.standby_tasks), 0) if state.standby_tasks else _NO_STANDBYS
        for task_id, offset in state.task_offsets.items():
            if task_id.subtopology_id in bounds:
                first, end = bounds[task_id.subtopology_id]
                task = first + task_id.partition
                if first <= task < end:
                    if task in standby:
                        standby[task] = offset
                    else:
                        ranked[task].append((_STATE, offset, -member))
        for task, offset in standby.items():
            ranked[task].append((_STANDBY, offset, -member))
    best = [-1] * len(ranked)
    several: dict[int, list[int]] = {}
    for task, ranks in enumerate(ranked):
        if len(ranks) == 1:
            best[task] = -ranks[0][2]
        elif ranks:
            several[task] = members = _in_order(ranks)
            best[task] = members[0]
    return Candidates(best, several)


def _in_order(ranks: Sequence[_Rank]) -> list[int]:
    if len(ranks) == 2:
        # The usual number: who runs the task, and who runs its standby.
        first, second = ranks
        return [-first[2], -second[2]] if first > second else [-second[2], -first[2]]
    return [-member for _, _, member in sorted(ranks, reverse=True)]


def _first_usable_or_less_loaded(placement: Placement) -> Choice:
    """The first one whose process does not hold the task, unless a later one is less loaded, as process and member."""
    loads, counts, process_of = placement.processes.loads, placement.counts, placement.layout.process_of

    def choose(members: Sequence[int], held_by: Sequence[int]) -> int:
        best, load, count = -1, 0.0, 0
        for member in members:
            process = process_of[member]
            if process in held_by:
                continue
            if best < 0 or (loads[process] < load and counts[member] < count):
                best, load, count = member, loads[process], counts[member]
        return best

    return choose


def _map_order(layout: GroupLayout) -> Sequence[int]:
    """The processes in a map that was made for as many as there are members, and filled as members came."""
    ids = layout.processes
    return iteration_order_of_computed(
        layout.process_of, spreads_of(ids), len(layout.ids), lambda process: utf16_key(ids[process])
    )


RULES = Rules(_ranked_candidates, _first_usable_or_less_loaded, _map_order)
