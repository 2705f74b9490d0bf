"""Placement of some of the tasks on some of the clients by another assignor."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

import attrs

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignedTaskType,
    AssignmentConfigs,
    ProcessID,
    TaskAssignment,
    TaskAssignor,
    TaskId,
)
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors.streams_catalogue import builtin_task_assignor

__all__ = ["Delegate", "Delegated", "builtin_delegate"]


def builtin_delegate(name: str) -> Callable[[], TaskAssignor] | None:
    """Factory of the built-in with this name, alias or Kafka class; ``None`` if there is none.

    Plugins of other packages cannot be delegates: an assignor does not see the policy of discovery.
    """
    found, fallback = builtin_task_assignor(name), builtin_task_assignor("fallback_prior")
    if found is None or fallback is None or found.name == "static":
        return None
    return partial(_LeadersChoice, found.create, fallback.create) if found.needs_lags else found.create


class _LeadersChoice(TaskAssignor):
    """An assignor, or the fallback if lags are missing, as chosen by Kafka's leader.

    Kafka: ``StreamsPartitionAssignor``.
    """

    def __init__(self, usual: Callable[[], TaskAssignor], fallback: Callable[[], TaskAssignor]) -> None:
        self._usual = usual
        self._fallback = fallback
        self._configs: Mapping[str, Any] = {}

    def configure(self, configs: Mapping[str, Any]) -> None:
        self._configs = configs

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """The answer of the assignor that Kafka's leader would call; raises the same errors."""
        return self._chosen(application).assign(application)

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        """The answer with its steps; no steps if the assignor does not record any."""
        return _traced(self._chosen(application), application)

    def _chosen(self, application: ApplicationMetadata) -> TaskAssignor:
        has_lags = all(client.has_lags() for client in application.streams_client_states().values())
        chosen = self._usual() if has_lags else self._fallback()
        chosen.configure(self._configs)
        return chosen


def _traced(assignor: TaskAssignor, application: ApplicationMetadata) -> Traced[TaskAssignment]:
    traced: Callable[[ApplicationMetadata], Traced[TaskAssignment]] | None = getattr(assignor, "traced", None)
    return Traced(assignor.assign(application), ()) if traced is None else traced(application)


@attrs.frozen
class Delegated:
    """Placement of a delegate.

    Attributes:
        tasks: Client to its tasks; clients that were not passed to the delegate are left out.
        deadlines: Client to the deadline of a follow-up rebalance.
    """

    tasks: Mapping[ProcessID, tuple[AssignedTask, ...]] = attrs.field(factory=dict)
    deadlines: Mapping[ProcessID, int] = attrs.field(factory=dict)
    remarks: tuple[str, ...] = ()

    def warmups(self, application: ApplicationMetadata) -> int:
        """Number of standbys beyond those that the configuration asks for."""
        standbys: dict[TaskId, int] = {}
        for held in self.tasks.values():
            for task in held:
                if task.type is AssignedTaskType.STANDBY:
                    standbys[task.id] = standbys.get(task.id, 0) + 1
        asked = max(application.assignment_configs().num_standby_replicas, 0)
        return sum(max(count - asked, 0) for count in standbys.values())

    def joined(self, other: Delegated) -> Delegated:
        """Both placements, the earlier deadline of each client, and each remark once."""
        tasks = {process: (*held, *other.tasks.get(process, ())) for process, held in self.tasks.items()}
        deadlines = dict(self.deadlines)
        for process, deadline in other.deadlines.items():
            deadlines[process] = min(deadline, deadlines.get(process, deadline))
        return Delegated({**other.tasks, **tasks}, deadlines, tuple(dict.fromkeys((*self.remarks, *other.remarks))))


@attrs.frozen
class Delegate:
    """An assignor that places parts of an application.

    Args:
        factory: Creates one for each call.
        steps: Receives its steps; ``None``: no trace.
    """

    factory: Callable[[], TaskAssignor]
    configs: Mapping[str, Any]
    steps: list[RuleStep] | None = None

    def place_all(self, application: ApplicationMetadata) -> TaskAssignment:
        assignor = self.factory()
        assignor.configure(self.configs)
        if self.steps is None:
            return assignor.assign(application)
        traced = _traced(assignor, application)
        self.steps.extend(traced.steps)
        return traced.answer

    def place(
        self, application: ApplicationMetadata, tasks: Iterable[TaskId], clients: Collection[ProcessID]
    ) -> Delegated:
        return self._ask(application, tasks, clients, application.assignment_configs())

    def place_without_standbys(
        self, application: ApplicationMetadata, tasks: Iterable[TaskId], clients: Collection[ProcessID], warmups: int
    ) -> Delegated:
        """The same without standbys except warm-ups.

        Args:
            clients: Clients that may take them.
            warmups: Warm-ups that are in flight already; ``max.warmup.replicas`` limits all of them together.
        """
        configs = application.assignment_configs()
        left = configs.max_warmup_replicas - warmups
        steps_before = 0 if self.steps is None else len(self.steps)
        placed = self._ask(
            application,
            tasks,
            clients,
            attrs.evolve(configs, num_standby_replicas=0, max_warmup_replicas=max(left, 1)),
        )
        if left > 0:
            return placed
        # The configuration does not allow zero. These tasks stay in place until others have warmed up, and recorded
        # steps about warm-ups are void.
        if self.steps is not None:
            del self.steps[steps_before:]
        actives = {
            process: tuple(task for task in held if task.type is AssignedTaskType.ACTIVE)
            for process, held in placed.tasks.items()
        }
        return attrs.evolve(placed, tasks=actives)

    def _ask(
        self,
        application: ApplicationMetadata,
        tasks: Iterable[TaskId],
        clients: Collection[ProcessID],
        configs: AssignmentConfigs,
    ) -> Delegated:
        answer = self.place_all(_part(application, tasks, clients, configs))
        return Delegated(
            {assigned.process_id: assigned.tasks for assigned in answer.assignments},
            {
                assigned.process_id: assigned.followup_rebalance_deadline_ms
                for assigned in answer.assignments
                if assigned.followup_rebalance_deadline_ms is not None
            },
            answer.remarks,
        )


def _part(
    application: ApplicationMetadata,
    tasks: Iterable[TaskId],
    clients: Collection[ProcessID],
    configs: AssignmentConfigs,
) -> ApplicationMetadata:
    """The application with some of its tasks and clients, both in its own order."""
    wanted = set(tasks)
    leader = application.leader_process_id()
    states = application.streams_client_states()
    return ApplicationMetadata(
        configs,
        [info for task, info in application.task_infos().items() if task in wanted],
        [state for process, state in states.items() if process in clients],
        application.current_time_ms(),
        leader if leader in clients else None,
        application.workload(),
    )
