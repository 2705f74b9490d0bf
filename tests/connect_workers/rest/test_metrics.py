"""``/metrics``: Connect's readings in Prometheus' text format."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from connect_workers.contract import WorkerMetric
from tests.connect_workers.rest.clients import ask
from tests.connect_workers.rest.pretend_herder import PretendCluster, PretendHerder

pytestmark = pytest.mark.anyio

READINGS = [
    WorkerMetric("connect-worker-metrics", "connector-restarting-task-count", 2, {"connector": "a"}),
    WorkerMetric("connect-worker-metrics", "connector-restarting-task-count", 0, {"connector": 'b "\n\\'}),
    WorkerMetric("connect-worker-metrics", "task-startup-attempts-total", 7),
    WorkerMetric("connect-worker-rebalance-metrics", "time-since-last-rebalance-ms", float("inf")),
    WorkerMetric("connect-worker-rebalance-metrics", "connect-protocol", "SESSIONED"),
    WorkerMetric("connector-task-metrics", "status", "running", {"connector": "a", "task": "0"}),
]


async def families() -> dict[str, list[tuple[str, dict[str, str], float]]]:
    answer = await ask(PretendHerder(PretendCluster(), readings=READINGS), "GET", "/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        family.name: [(sample.name, sample.labels, sample.value) for sample in family.samples]
        for family in text_string_to_metric_families(answer.text)
    }


async def test_a_restart_is_seen_per_connector() -> None:
    name = "kafka_connect_worker_connector_restarting_task_count"
    assert (await families())[name] == [(name, {"connector": "a"}, 2), (name, {"connector": 'b "\n\\'}, 0)]


async def test_a_total_is_a_counter() -> None:
    name = "kafka_connect_worker_task_startup_attempts"
    assert (await families())[name] == [(f"{name}_total", {}, 7)]


async def test_a_text_is_a_label() -> None:
    found = await families()
    name = "kafka_connect_worker_rebalance_connect_protocol_info"
    assert found[name] == [(name, {"value": "SESSIONED"}, 1)]
    name = "kafka_connect_connector_task_status_info"
    assert found[name] == [(name, {"connector": "a", "task": "0", "value": "running"}, 1)]


async def test_a_time_that_has_not_come_is_infinite() -> None:
    name = "kafka_connect_worker_rebalance_time_since_last_rebalance_ms"
    assert (await families())[name] == [(name, {}, float("inf"))]
