"""Faults of an answer that Kafka's coordinator does not notice: it distributes any answer of its assignor."""

from __future__ import annotations

import enum

import attrs

from assignment_api.group import GroupAssignment, GroupSpec, TaskId, TopologyDescriber
from assignor_lab.groups.streams_group.placement import placement_of

__all__ = ["GroupFinding", "GroupFindingKind", "group_findings"]


class GroupFindingKind(enum.Enum):
    """Faults that Kafka accepts although they harm the application."""

    TASK_NOT_ASSIGNED = "TASK_NOT_ASSIGNED"
    ACTIVE_MORE_THAN_ONCE = "ACTIVE_MORE_THAN_ONCE"
    TWICE_IN_ONE_PROCESS = "TWICE_IN_ONE_PROCESS"
    TOO_MANY_STANDBYS = "TOO_MANY_STANDBYS"
    STANDBY_WITHOUT_CHANGELOG = "STANDBY_WITHOUT_CHANGELOG"


@attrs.frozen
class GroupFinding:
    """One fault."""

    kind: GroupFindingKind
    task: TaskId
    message: str


def group_findings(
    group: GroupSpec, topology: TopologyDescriber, assignment: GroupAssignment
) -> tuple[GroupFinding, ...]:
    """Every fault of ``assignment``, by task in the order of the topology."""
    placement = placement_of(group, topology, assignment)
    state = placement.state
    found: list[GroupFinding] = []
    for number, runners in enumerate(placement.runners):
        copies, warmups = placement.copies[number], placement.warmups[number]
        holders = [*(state.process_of[member] for member in runners), *copies, *warmups]
        if len(runners) == 1 and not copies and not warmups:
            continue
        task = state.topology.id_of(number)
        if not runners:
            found.append(_finding(GroupFindingKind.TASK_NOT_ASSIGNED, task, "it has no owner"))
        if len(runners) > 1:
            found.append(_finding(GroupFindingKind.ACTIVE_MORE_THAN_ONCE, task, f"{len(runners)} members run it"))
        if len(set(holders)) < len(holders):
            twice = next(process for process in holders if holders.count(process) > 1)
            where = f"process {state.process_ids[twice]!r:.80} holds it {holders.count(twice)} times"
            found.append(_finding(GroupFindingKind.TWICE_IN_ONE_PROCESS, task, where))
        if len(copies) > state.standbys_configured:
            many = f"{len(copies)} standbys, and {state.standbys_configured} are configured"
            found.append(_finding(GroupFindingKind.TOO_MANY_STANDBYS, task, many))
        if (copies or warmups) and not state.topology.stateful[number]:
            found.append(
                _finding(GroupFindingKind.STANDBY_WITHOUT_CHANGELOG, task, "a copy of it, and it has no state")
            )
    return tuple(found)


def _finding(kind: GroupFindingKind, task: TaskId, sentence: str) -> GroupFinding:
    return GroupFinding(kind, task, f"task {str(task)!r:.80}: {sentence}")
