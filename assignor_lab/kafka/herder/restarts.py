"""Restarts of a connector and its tasks (KIP-745): the request that counts, and its plan.

Kafka: ``RestartRequest``, ``RestartPlan``.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignment_api.connect import ConnectorTaskId
from assignor_lab.kafka.herder.statuses import ConnectorStatus, InstanceStatus, State

__all__ = ["PendingRestarts", "RestartRequest", "connector_to_restart", "planned", "tasks_to_restart"]


@attrs.frozen
class RestartRequest:
    """A restart as KIP-745 has it (Kafka: ``RestartRequest``)."""

    connector: str
    only_failed: bool = False
    include_tasks: bool = False


def _rank(request: RestartRequest) -> int:
    return (not request.only_failed) * 2 + request.include_tasks


class PendingRestarts:
    """Requests that wait for the herder's next tick: one for each connector, the one that restarts most."""

    def __init__(self) -> None:
        self._pending: dict[str, RestartRequest] = {}

    def add(self, request: RestartRequest) -> None:
        """Takes a request; it counts if its rank is higher than that of the one that waits."""
        waiting = self._pending.get(request.connector)
        if waiting is None or _rank(request) > _rank(waiting):
            self._pending[request.connector] = request

    def take(self) -> list[RestartRequest]:
        """All of them, by connector; none is left."""
        taken = [self._pending[name] for name in sorted(self._pending)]
        self._pending.clear()
        return taken

    def __bool__(self) -> bool:
        """Whether any waits."""
        return bool(self._pending)


def planned(request: RestartRequest, now: ConnectorStatus) -> ConnectorStatus:
    """``now`` with the state RESTARTING where a request would restart something.

    An instance that is RESTARTING already is so in every plan (Kafka: ``RestartPlan``).
    """
    connector, tasks = now.connector, list(now.tasks)
    if _wants(request, connector):
        connector = attrs.evolve(connector, state=State.RESTARTING)
    if request.include_tasks:
        tasks = [attrs.evolve(task, state=State.RESTARTING) if _wants(request, task) else task for task in tasks]
    return attrs.evolve(now, connector=connector, tasks=tasks)


def _wants(request: RestartRequest, status: InstanceStatus) -> bool:
    return not request.only_failed or status.state == State.FAILED


def connector_to_restart(plan: ConnectorStatus, own: Iterable[str]) -> bool:
    """Whether a worker that has these connectors restarts the instance."""
    return plan.connector.state == State.RESTARTING and plan.name in own


def tasks_to_restart(plan: ConnectorStatus, own: Iterable[ConnectorTaskId]) -> list[ConnectorTaskId]:
    """Which tasks a worker that has these restarts (KAFKA-13719: never any other)."""
    mine = set(own)
    planned = [
        ConnectorTaskId(plan.name, task.number)
        for task in plan.tasks
        if task.state == State.RESTARTING and task.number is not None
    ]
    return [task for task in planned if task in mine]
