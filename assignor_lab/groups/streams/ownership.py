"""Holding of applications: the process that runs a task, and those with a copy of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api import ApplicationMetadata, TaskAssignment, TaskId
from assignor_lab.groups.ownership.ownership import ACTIVE, STANDBY, Ownership, PossibleOwner, held
from assignor_lab.groups.streams.answers import observed_assignment
from assignor_lab.scenarios import Scenario

__all__ = ["HOLDING"]


class _Ownership:
    noun = "task"
    default_assignor = "high_availability"

    def clients(self, state: ApplicationMetadata) -> tuple[PossibleOwner, ...]:
        return tuple(
            PossibleOwner(
                str(client.process_id), None if client.host_info is None else str(client.host_info), client.consumers
            )
            for client in state.streams_client_states().values()
        )

    def tasks(self, state: ApplicationMetadata) -> tuple[str, ...]:
        return tuple(str(task) for task in sorted(state.all_tasks(), key=TaskId.sort_key))

    def before(self, state: ApplicationMetadata) -> Ownership:
        tasks = state.all_tasks()
        clients = state.streams_client_states().values()
        return held(
            (str(client.process_id), role, str(task))
            for client in clients
            for role, previous in ((ACTIVE, client.previous_active_tasks), (STANDBY, client.previous_standby_tasks))
            for task in previous
            if task in tasks
        )

    def after(self, state: ApplicationMetadata, answer: TaskAssignment) -> Ownership:
        return held(
            (str(client.process_id), task.type.value, str(task.id))
            for client in answer.assignments
            for task in client.tasks
        )

    def answer(
        self, scenario: Scenario, number: int, state: ApplicationMetadata, line: Mapping[str, Any]
    ) -> TaskAssignment:
        return observed_assignment(line)


HOLDING = _Ownership()
