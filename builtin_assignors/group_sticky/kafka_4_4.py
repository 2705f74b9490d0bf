"""Rules of ``group_sticky`` since Kafka 4.4 (Kafka: the brokers' ``StickyTaskAssignor``).

The rules of both releases are in ``builtin_assignors/_group_sticky_steps``.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.group import MemberAssignmentState
from assignment_api.java import iteration_order_of_computed
from assignment_api.streams.ids import utf16_key
from builtin_assignors._group_sticky_steps import (
    Choice,
    GroupLayout,
    GroupStickyPlacement,
    ReturnCandidates,
    Rules,
    TopologyTasks,
    previous_standbys,
    spreads_of,
)

__all__ = ["RULES"]

#: A candidate for a task is one integer, and the greatest comes first. It is made of the task, whether the member runs
#: it as standby or only reports an offset, the offset, and the rank of the member, counted down from this number.
#: Integers keep the garbage collector idle.
_MEMBERS = 1 << 32
#: Offsets are signed, with 64 bits.
_OFFSETS, _LEAST_OFFSET = 1 << 64, -(1 << 63)
_STANDBY = _OFFSETS * _MEMBERS
_TASK = 2 * _STANDBY
_NO_STANDBYS: dict[int, int] = {}


def _ranked_candidates(states: Sequence[MemberAssignmentState], tasks: TopologyTasks) -> ReturnCandidates:
    """The members that run a task as standby, then those that report an offset for it, the greatest offset first.

    Any offset makes a candidate, whatever its value and the member's other roles. Among equals the first visited member
    comes first.
    """
    if not any(state.task_offsets for state in states):
        return previous_standbys(states, tasks)
    bounds = tasks.bounds
    ranks: list[int] = []
    for member, state in enumerate(states):
        standby = dict.fromkeys(tasks.numbers_of(state.standby_tasks), 0) if state.standby_tasks else _NO_STANDBYS
        left = _MEMBERS - 1 - member - _LEAST_OFFSET * _MEMBERS
        for task_id, offset in state.task_offsets.items():
            span = bounds.get(task_id.subtopology_id)
            if span is not None:
                first, end = span
                task = first + task_id.partition
                if first <= task < end:
                    if task in standby:
                        standby[task] = offset
                    else:
                        ranks.append(task * _TASK + offset * _MEMBERS + left)
        left += _STANDBY
        ranks += [task * _TASK + offset * _MEMBERS + left for task, offset in standby.items()]
    ranks.sort(reverse=True)
    best = [-1] * len(tasks.partitions)
    several: dict[int, list[int]] = {}
    for rank in ranks:
        task, member = rank // _TASK, _MEMBERS - 1 - rank % _MEMBERS
        if best[task] < 0:
            best[task] = member
        elif task in several:
            several[task].append(member)
        else:
            several[task] = [best[task], member]
    return ReturnCandidates(best, several)


def _first_usable_or_less_loaded(placement: GroupStickyPlacement) -> Choice:
    """The first candidate whose process lacks the task, unless a later one is less loaded, as process and member."""
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
    """The processes in the order of a map created for as many entries as members, and filled in their order."""
    ids = layout.processes
    return iteration_order_of_computed(
        layout.process_of, spreads_of(ids), len(layout.ids), lambda process: utf16_key(ids[process])
    )


RULES = Rules(_ranked_candidates, _first_usable_or_less_loaded, _map_order)
