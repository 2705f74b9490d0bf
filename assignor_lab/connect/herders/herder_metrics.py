"""A worker's readings, under the names of Connect's JMX attributes (Kafka: ``ConnectMetricsRegistry``)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from assignment_api.connect import ConnectorTaskId
from assignor_lab.connect.contract import Metric
from assignor_lab.connect.herders.herder_loop import HerderLoop
from assignor_lab.connect.instances.instances import Instances, StartCounts
from assignor_lab.connect.logs.cluster_logs import ClusterLogs
from assignor_lab.connect.plugins.connector_plugins import ConnectorPlugins
from assignor_lab.kafka.herder.config_log.reader import ConfigSnapshot

__all__ = ["rebalance_metrics", "worker_metrics"]

_REBALANCE, _COORDINATOR = "connect-worker-rebalance-metrics", "connect-coordinator-metrics"
_WORKER, _CONNECTOR, _TASK = "connect-worker-metrics", "connector-metrics", "connector-task-metrics"

#: Attribute to the state that it counts; DESTROYED is never seen.
_TASK_STATES = {
    "running": "RUNNING",
    "paused": "PAUSED",
    "failed": "FAILED",
    "unassigned": "UNASSIGNED",
    "destroyed": "DESTROYED",
    "restarting": "RESTARTING",
}


def rebalance_metrics(loop: HerderLoop) -> Iterator[Metric]:
    """What a worker of a group knows of its rebalances."""
    membership, times = loop.membership, loop.rebalances
    protocol = membership.state.protocol or loop.settings.protocol
    yield Metric(_REBALANCE, "connect-protocol", protocol.name)
    yield Metric(_REBALANCE, "leader-name", membership.leader_url or "")
    yield Metric(_REBALANCE, "epoch", max(membership.state.generation, 0))
    yield Metric(_REBALANCE, "completed-rebalances-total", times.count)
    yield Metric(_REBALANCE, "rebalancing", float(membership.needs_join or times.begun_ms is not None))
    yield Metric(_REBALANCE, "rebalance-max-time-ms", times.longest_ms if times.count else math.nan)
    yield Metric(_REBALANCE, "rebalance-avg-time-ms", times.total_ms / times.count if times.count else math.nan)
    since = math.inf if times.last_ms is None else loop.logs.clock.now_ms() - times.last_ms
    yield Metric(_REBALANCE, "time-since-last-rebalance-ms", since)
    held = membership.state.held
    yield Metric(_COORDINATOR, "assigned-connectors", 0 if held is None else len(held.connectors))
    yield Metric(_COORDINATOR, "assigned-tasks", 0 if held is None else len(held.tasks))


def worker_metrics(
    instances: Instances, logs: ClusterLogs, plugins: ConnectorPlugins, snapshot: ConfigSnapshot
) -> Iterator[Metric]:
    """What a worker knows of its connectors and tasks."""
    yield Metric(_WORKER, "connector-count", len(instances.connectors))
    yield Metric(_WORKER, "task-count", len(instances.tasks))
    yield from _starts("connector", instances.connector_starts)
    yield from _starts("task", instances.task_starts)
    by_connector: dict[str, list[ConnectorTaskId]] = {name: [] for name in instances.connectors}
    for task in instances.tasks:
        by_connector.setdefault(task.connector, []).append(task)
    for name, tasks in sorted(by_connector.items()):
        labels = {"connector": name}
        states = [status.state for task in tasks if (status := logs.statuses.status(task)) is not None]
        yield Metric(_WORKER, "connector-total-task-count", len(tasks), labels)
        for attribute, state in _TASK_STATES.items():
            yield Metric(_WORKER, f"connector-{attribute}-task-count", states.count(state), labels)
    yield from _each(instances, logs, plugins, snapshot)


def _starts(what: str, counts: StartCounts) -> Iterator[Metric]:
    yield Metric(_WORKER, f"{what}-startup-attempts-total", counts.tried)
    yield Metric(_WORKER, f"{what}-startup-success-total", counts.succeeded)
    yield Metric(_WORKER, f"{what}-startup-failure-total", counts.failed)
    for name, count in (("success", counts.succeeded), ("failure", counts.failed)):
        yield Metric(_WORKER, f"{what}-startup-{name}-percentage", count / counts.tried if counts.tried else 0.0)


def _each(
    instances: Instances, logs: ClusterLogs, plugins: ConnectorPlugins, snapshot: ConfigSnapshot
) -> Iterator[Metric]:
    for name in sorted(instances.connectors):
        status, kind = logs.statuses.connector(name), plugins.find(snapshot.connectors.get(name, {}))
        labels = {"connector": name}
        yield Metric(_CONNECTOR, "status", "unassigned" if status is None else status.state.lower(), labels)
        if kind is not None:
            yield Metric(_CONNECTOR, "connector-type", kind.type, labels)
            yield Metric(_CONNECTOR, "connector-class", kind.class_name, labels)
            yield Metric(_CONNECTOR, "connector-version", kind.version or "undefined", labels)
    for task in sorted(instances.tasks):
        status = logs.statuses.status(task)
        labels = {"connector": task.connector, "task": str(task.task)}
        yield Metric(_TASK, "status", "unassigned" if status is None else status.state.lower(), labels)
