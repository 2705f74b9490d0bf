"""Holding of Streams groups: which member runs a task, or has a copy of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.group import GroupAssignment, MemberAssignment, TaskId, TasksBySubtopology
from assignor_lab.groups.holding import ACTIVE, STANDBY, WARMUP, Client, Held, held
from assignor_lab.groups.streams_group.asking import GroupState
from assignor_lab.scenarios import Scenario

__all__ = ["HOLDING"]


class _Holding:
    noun = "task"
    default_assignor = "group_sticky"

    def clients(self, state: GroupState) -> tuple[Client, ...]:
        return tuple(Client(each, process=member.metadata.process_id) for each, member in state.group.members.items())

    def tasks(self, state: GroupState) -> tuple[str, ...]:
        topology = state.topology
        ids = [
            TaskId(each, number)
            for each in topology.subtopologies()
            for number in range(topology.max_num_input_partitions(each))
        ]
        return tuple(map(str, sorted(ids)))

    def before(self, state: GroupState) -> Held:
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

    def after(self, state: GroupState, answer: GroupAssignment) -> Held:
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

    def answer(self, scenario: Scenario, number: int, state: GroupState, line: Mapping[str, Any]) -> GroupAssignment:
        return GroupAssignment(
            {
                member: MemberAssignment(roles["active"], roles["standby"], roles["warmup"])
                for member, roles in line["members"].items()
            }
        )


def _texts(tasks: TasksBySubtopology) -> list[str]:
    return [str(TaskId(each, number)) for each, numbers in tasks.items() for number in numbers]


HOLDING = _Holding()
