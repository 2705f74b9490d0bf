"""What Kafka 4.4.0 does in its own way (reference 3 of the 4.4 text)."""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.group import NO_TASKS
from assignment_api.java import iteration_order_of_computed
from assignment_api.streams.ids import utf16_key
from builtin_assignors._group_sticky_steps import Placement, Rules, TopologyTasks, VisitedMembers, spreads_of

__all__ = ["RULES"]

#: A member that runs a task as standby now, and one that only reports an offset for it; in the order of their ranks.
_STANDBY, _STATE = 0, 1


def _ranked_candidates(members: VisitedMembers, tasks: TopologyTasks) -> dict[int, list[int]]:
    """Task to the members that run it as standby, then those that report an offset for it, the greatest offset first.

    Any offset makes a candidate, whatever its value and whatever else the member does with the task. Among equals the
    one that was visited first comes first.
    """
    ranked: dict[int, list[tuple[int, int, int]]] = {}
    bounds = tasks.bounds
    for member, state in enumerate(members.states):
        offsets: dict[int, int] = {}
        for task_id, offset in state.task_offsets.items():
            first, end = bounds.get(task_id.subtopology_id, (0, 0))
            if first <= first + task_id.partition < end:
                offsets[first + task_id.partition] = offset
        if state.standby_tasks is not NO_TASKS:
            for subtopology, partitions in state.standby_tasks.items():
                first, end = bounds.get(subtopology, (0, 0))
                for partition in partitions:
                    if first <= first + partition < end:
                        task = first + partition
                        ranked.setdefault(task, []).append((_STANDBY, -offsets.pop(task, 0), member))
        for task, offset in offsets.items():
            ranked.setdefault(task, []).append((_STATE, -offset, member))
    return {task: [member for _, _, member in sorted(candidates)] for task, candidates in ranked.items()}


def _first_usable_or_less_loaded(placement: Placement, members: Sequence[int], held_by: Sequence[int]) -> int:
    """The first one whose process does not hold the task, unless a later one is less loaded, as process and member."""
    loads, counts, process_of = placement.processes.loads, placement.counts, placement.process_of
    best, load, count = -1, 0.0, 0
    for member in members:
        process = process_of[member]
        if process in held_by:
            continue
        if best < 0 or (loads[process] < load and counts[member] < count):
            best, load, count = member, loads[process], counts[member]
    return best


def _map_order(members: VisitedMembers) -> Sequence[int]:
    """The processes in a map that was made for as many as there are members, and filled at their first members."""
    ids = members.processes
    return iteration_order_of_computed(
        members.process_of, spreads_of(ids), len(members.ids), sort_key=lambda process: utf16_key(ids[process])
    )


RULES = Rules(_ranked_candidates, _first_usable_or_less_loaded, _map_order)
