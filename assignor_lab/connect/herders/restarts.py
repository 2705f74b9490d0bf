"""Restarts of a connector and its tasks (KIP-745): which request counts, and what it restarts (reference 7.2, 7.3)."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignment_api.connect import ConnectorTaskId
from assignor_lab.connect.herders.herder import ConnectorStatus, InstanceStatus, RestartRequest
from assignor_lab.connect.logs.statuses import State, Status, StatusLog

__all__ = [
    "PendingRestarts",
    "connector_to_restart",
    "instance_status",
    "planned",
    "restart_plan",
    "tasks_to_restart",
]


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


def instance_status(status: Status, number: int | None = None) -> InstanceStatus:
    """A status as the REST interface has it."""
    return InstanceStatus(status.state, status.worker_id, status.version, status.trace or None, number)


def restart_plan(request: RestartRequest, statuses: StatusLog, connector_type: str) -> ConnectorStatus | None:
    """What a request would restart, by the statuses of this moment: there the state is RESTARTING.

    The tasks are in the order of the status log. What a failed instance's trace was, stays in.

    Args:
        request: The request.
        statuses: The statuses.
        connector_type: Type of the connector.

    Returns:
        The plan, or ``None`` if the connector has no status.
    """
    connector = statuses.connector(request.connector)
    if connector is None:
        return None
    tasks = [instance_status(status, number) for number, status in statuses.tasks(request.connector).items()]
    return planned(request, ConnectorStatus(request.connector, instance_status(connector), tasks, connector_type))


def planned(request: RestartRequest, now: ConnectorStatus) -> ConnectorStatus:
    """``now`` with the state RESTARTING where a request would restart something.

    An instance that is RESTARTING already is so in every plan (reference 7.3).
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
