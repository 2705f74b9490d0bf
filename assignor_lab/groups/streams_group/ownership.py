"""Holding of Streams groups: the member that runs a task, and those with a copy of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.group import GroupAssignment, MemberAssignment, TaskId, TasksBySubtopology
from assignor_lab.groups.ownership.ownership import ACTIVE, STANDBY, WARMUP, Ownership, PossibleOwner, held
from assignor_lab.groups.streams_group.assignor_calls import StreamsGroupState
from assignor_lab.scenarios import Scenario

__all__ = ["HOLDING"]


class _Ownership:
    noun = "task"
    default_assignor = "group_sticky"

    def clients(self, state: StreamsGroupState) -> tuple[PossibleOwner, ...]:
        return tuple(
            PossibleOwner(each, process=member.metadata.process_id) for each, member in state.group.members.items()
        )

    def tasks(self, state: StreamsGroupState) -> tuple[str, ...]:
        topology = state.topology
        ids = [
            TaskId(each, number)
            for each in topology.subtopologies()
            for number in range(topology.max_num_input_partitions(each))
        ]
        return tuple(map(str, sorted(ids)))

    def before(self, state: StreamsGroupState) -> Ownership:
        known = frozenset(self.tasks(state))
        return held(
            (member_id, role, task)
            for member_id, member in state.group.members.items()
            for role, tasks in (
                (ACTIVE, member.state.active_tasks),
                (STANDBY, member.state.standby_tasks),
                (WARMUP, member.state.warmup_tasks),
            )
            for task in _texts(tasks)
            if task in known
        )

    def after(self, state: StreamsGroupState, answer: GroupAssignment) -> Ownership:
        return held(
            (member_id, role, task)
            for member_id, target in answer.members.items()
            for role, tasks in (
                (ACTIVE, target.active_tasks),
                (STANDBY, target.standby_tasks),
                (WARMUP, target.warmup_tasks),
            )
            for task in _texts(tasks)
        )

    def answer(
        self, scenario: Scenario, number: int, state: StreamsGroupState, line: Mapping[str, Any]
    ) -> GroupAssignment:
        return GroupAssignment(
            {
                member: MemberAssignment(roles["active"], roles["standby"], roles["warmup"])
                for member, roles in line["members"].items()
            }
        )


def _texts(tasks: TasksBySubtopology) -> list[str]:
    return [str(TaskId(each, number)) for each, numbers in tasks.items() for number in numbers]


HOLDING = _Ownership()
