"""Restarts of a connector and its tasks (KIP-745): the effective request, and its plan.

Kafka: ``RestartRequest``, ``RestartPlan``.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignment_api.connect import ConnectorTaskId
from assignor_lab.kafka.herder.statuses import ConnectorStatus, InstanceStatus, JobState

__all__ = ["PendingRestarts", "RestartRequest", "connector_to_restart", "planned", "tasks_to_restart"]


@attrs.frozen
class RestartRequest:
    """A restart request of KIP-745 (Kafka: ``RestartRequest``)."""

    connector: str
    only_failed: bool = False
    include_tasks: bool = False


def _rank(request: RestartRequest) -> int:
    return (not request.only_failed) * 2 + request.include_tasks


class PendingRestarts:
    """Requests that wait for the herder's next tick: for each connector the one that restarts most."""

    def __init__(self) -> None:
        self._pending: dict[str, RestartRequest] = {}

    def add(self, request: RestartRequest) -> None:
        """Add a request; it replaces a waiting one of lower rank."""
        waiting = self._pending.get(request.connector)
        if waiting is None or _rank(request) > _rank(waiting):
            self._pending[request.connector] = request

    def take(self) -> list[RestartRequest]:
        taken = [self._pending[name] for name in sorted(self._pending)]
        self._pending.clear()
        return taken

    def __bool__(self) -> bool:
        return bool(self._pending)


def planned(request: RestartRequest, now: ConnectorStatus) -> ConnectorStatus:
    """``now`` with the state RESTARTING for each instance that the request would restart.

    An instance with state RESTARTING keeps it in every plan (Kafka: ``RestartPlan``).
    """
    connector, tasks = now.connector, list(now.tasks)
    if _wants(request, connector):
        connector = attrs.evolve(connector, state=JobState.RESTARTING)
    if request.include_tasks:
        tasks = [attrs.evolve(task, state=JobState.RESTARTING) if _wants(request, task) else task for task in tasks]
    return attrs.evolve(now, connector=connector, tasks=tasks)


def _wants(request: RestartRequest, status: InstanceStatus) -> bool:
    return not request.only_failed or status.state == JobState.FAILED


def connector_to_restart(plan: ConnectorStatus, own: Iterable[str]) -> bool:
    return plan.connector.state == JobState.RESTARTING and plan.name in own


def tasks_to_restart(plan: ConnectorStatus, own: Iterable[ConnectorTaskId]) -> list[ConnectorTaskId]:
    """Tasks that a worker with these tasks restarts (KAFKA-13719: never any other)."""
    mine = set(own)
    planned = [
        ConnectorTaskId(plan.name, task.number)
        for task in plan.tasks
        if task.state == JobState.RESTARTING and task.number is not None
    ]
    return [task for task in planned if task in mine]
