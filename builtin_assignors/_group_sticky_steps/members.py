"""The members of a group as dense numbers, in the order in which Kafka visits them, and the tasks that they had."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignment_api.group import NO_TASKS, GroupSpec, MemberAssignmentState
from assignment_api.java import iteration_order_of_spreads, spread, string_hash
from assignment_api.streams.ids import utf16_key
from builtin_assignors._group_sticky_steps.tasks import TopologyTasks

__all__ = ["VisitedMembers", "previous_actives", "previous_standbys", "spreads_of", "visited_members"]

#: Ids whose spread hash codes are kept: Java, too, keeps the hash code in each string.
_KNOWN_IDS = 1 << 16


class _Spreads(dict[str, int]):
    """Text to what a hash map makes of its hash code."""

    __slots__ = ()

    def __missing__(self, text: str) -> int:
        if len(self) >= _KNOWN_IDS:
            self.clear()
        self[text] = found = spread(string_hash(text))
        return found


_spreads = _Spreads()


def spreads_of(texts: Sequence[str]) -> list[int]:
    """What a hash map makes of the hash code of each text."""
    return list(map(_spreads.__getitem__, texts))


@attrs.frozen
class VisitedMembers:
    """The members of a group, numbered in the order of Kafka's visits; processes as they are first met there.

    Args:
        ids: Of each member.
        spreads: What a hash map makes of each id's hash code.
        states: What each member had.
        process_of: Process of each member.
        processes: Id of each process.
    """

    ids: Sequence[str]
    spreads: Sequence[int]
    states: Sequence[MemberAssignmentState]
    process_of: Sequence[int]
    processes: Sequence[str]


def visited_members(group: GroupSpec) -> VisitedMembers:
    """The members in hash order: the coordinator hands in a hash map."""
    ids = list(group.members)
    spreads = spreads_of(ids)
    order = iteration_order_of_spreads(spreads, sort_key=lambda position: utf16_key(ids[position]))
    given = list(group.members.values())
    members = [given[position] for position in order]
    processes: dict[str, int] = {}
    process_of = [processes.setdefault(member.metadata.process_id, len(processes)) for member in members]
    return VisitedMembers(
        ids=[ids[position] for position in order],
        spreads=[spreads[position] for position in order],
        states=[member.state for member in members],
        process_of=process_of,
        processes=list(processes),
    )


def previous_actives(members: VisitedMembers, tasks: TopologyTasks) -> list[int]:
    """The member that had each task as active, -1 = nobody; of several the last one visited."""
    owners = [-1] * len(tasks.partitions)
    bounds = tasks.bounds
    for member, state in enumerate(members.states):
        held = state.active_tasks
        if held is NO_TASKS:
            continue
        for subtopology, partitions in held.items():
            first, end = bounds.get(subtopology, (0, 0))
            for partition in partitions:
                if first <= first + partition < end:
                    owners[first + partition] = member
    return owners


def previous_standbys(members: VisitedMembers, tasks: TopologyTasks) -> dict[int, list[int]]:
    """Task to the members that had it as standby, in the order of the visits."""
    owners: dict[int, list[int]] = {}
    bounds = tasks.bounds
    for member, state in enumerate(members.states):
        held = state.standby_tasks
        if held is NO_TASKS:
            continue
        for subtopology, partitions in held.items():
            first, end = bounds.get(subtopology, (0, 0))
            for partition in partitions:
                if first <= first + partition < end:
                    task = first + partition
                    if task in owners:
                        owners[task].append(member)
                    else:
                        owners[task] = [member]
    return owners
