"""A worker's readings, under the names of Connect's JMX attributes (Kafka: ``ConnectMetricsRegistry``)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from assignment_api.connect import ConnectorTaskId
from assignor_lab.kafka.herder.config_log.reader import ConfigSnapshot
from connect_workers.contract import WorkerMetric
from connect_workers.herders.herder_loop import HerderLoop
from connect_workers.instances.instances import Instances, StartCounts
from connect_workers.logs.cluster_logs import ClusterLogs
from connect_workers.plugins.connector_plugins import ConnectorPlugins

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


def rebalance_metrics(loop: HerderLoop) -> Iterator[WorkerMetric]:
    membership, times = loop.membership, loop.rebalances
    protocol = membership.state.protocol or loop.settings.protocol
    yield WorkerMetric(_REBALANCE, "connect-protocol", protocol.name)
    yield WorkerMetric(_REBALANCE, "leader-name", membership.leader_url or "")
    yield WorkerMetric(_REBALANCE, "epoch", max(membership.state.generation, 0))
    yield WorkerMetric(_REBALANCE, "completed-rebalances-total", times.count)
    yield WorkerMetric(_REBALANCE, "rebalancing", float(membership.needs_join or times.begun_ms is not None))
    yield WorkerMetric(_REBALANCE, "rebalance-max-time-ms", times.longest_ms if times.count else math.nan)
    yield WorkerMetric(_REBALANCE, "rebalance-avg-time-ms", times.total_ms / times.count if times.count else math.nan)
    since = math.inf if times.last_ms is None else loop.logs.clock.now_ms() - times.last_ms
    yield WorkerMetric(_REBALANCE, "time-since-last-rebalance-ms", since)
    held = membership.state.held
    yield WorkerMetric(_COORDINATOR, "assigned-connectors", 0 if held is None else len(held.connectors))
    yield WorkerMetric(_COORDINATOR, "assigned-tasks", 0 if held is None else len(held.tasks))


def worker_metrics(
    instances: Instances, logs: ClusterLogs, plugins: ConnectorPlugins, snapshot: ConfigSnapshot
) -> Iterator[WorkerMetric]:
    yield WorkerMetric(_WORKER, "connector-count", len(instances.connectors))
    yield WorkerMetric(_WORKER, "task-count", len(instances.tasks))
    yield from _starts("connector", instances.connector_starts)
    yield from _starts("task", instances.task_starts)
    by_connector: dict[str, list[ConnectorTaskId]] = {name: [] for name in instances.connectors}
    for task in instances.tasks:
        by_connector.setdefault(task.connector, []).append(task)
    for name, tasks in sorted(by_connector.items()):
        labels = {"connector": name}
        states = [status.state for task in tasks if (status := logs.statuses.status(task)) is not None]
        yield WorkerMetric(_WORKER, "connector-total-task-count", len(tasks), labels)
        for attribute, state in _TASK_STATES.items():
            yield WorkerMetric(_WORKER, f"connector-{attribute}-task-count", states.count(state), labels)
    yield from _each(instances, logs, plugins, snapshot)


def _starts(subject: str, counts: StartCounts) -> Iterator[WorkerMetric]:
    yield WorkerMetric(_WORKER, f"{subject}-startup-attempts-total", counts.tried)
    yield WorkerMetric(_WORKER, f"{subject}-startup-success-total", counts.succeeded)
    yield WorkerMetric(_WORKER, f"{subject}-startup-failure-total", counts.failed)
    for name, count in (("success", counts.succeeded), ("failure", counts.failed)):
        yield WorkerMetric(
            _WORKER, f"{subject}-startup-{name}-percentage", count / counts.tried if counts.tried else 0.0
        )


def _each(
    instances: Instances, logs: ClusterLogs, plugins: ConnectorPlugins, snapshot: ConfigSnapshot
) -> Iterator[WorkerMetric]:
    for name in sorted(instances.connectors):
        status, kind = logs.statuses.connector(name), plugins.find(snapshot.connectors.get(name, {}))
        labels = {"connector": name}
        yield WorkerMetric(_CONNECTOR, "status", "unassigned" if status is None else status.state.lower(), labels)
        if kind is not None:
            yield WorkerMetric(_CONNECTOR, "connector-type", kind.type, labels)
            yield WorkerMetric(_CONNECTOR, "connector-class", kind.class_name, labels)
            yield WorkerMetric(_CONNECTOR, "connector-version", kind.version or "undefined", labels)
    for task in sorted(instances.tasks):
        status = logs.statuses.status(task)
        labels = {"connector": task.connector, "task": str(task.task)}
        yield WorkerMetric(_TASK, "status", "unassigned" if status is None else status.state.lower(), labels)
