from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.http.server import listening_socket, serve
from connect_workers.cluster import ConnectCluster
from connect_workers.herders.standalone import StandaloneHerder
from connect_workers.logs.cluster_logs import ClusterLogs
from connect_workers.rest import create_app
from connect_workers.served_cluster import ServedCluster
from tests.connect_workers.live import TIMINGS, settings
from tests.connect_workers.rest.gen_connector import FAILING, PLUGINS

pytestmark = [pytest.mark.anyio, pytest.mark.services]

CLASS = "live.GenConnector"
CONFIG = {"connector.class": CLASS, "tasks.max": "2", "gen.tasks": "2", "gen.topic": "numbers"}


@contextlib.asynccontextmanager
async def workers(path: Path) -> AsyncIterator[str]:
    FAILING.clear()
    async with ConnectCluster(path, TIMINGS, PLUGINS, offset_flush_interval_ms=50) as cluster:
        served = ServedCluster(cluster)
        await served.add(settings=settings())
        worker = await served.add(settings=settings())
        await cluster.until_calm()
        yield worker.url.rstrip("/")
        await served.close()


@contextlib.asynccontextmanager
async def standalone(path: Path) -> AsyncIterator[str]:
    FAILING.clear()
    logs = ClusterLogs(path, 50)
    logs.start()
    herder = StandaloneHerder("127.0.0.1:8083", settings(), logs, PLUGINS)
    async with serve(create_app(herder), listening_socket("127.0.0.1", 0)) as server:
        await herder.start()
        yield server.url
        await herder.stop()
    await asyncio.to_thread(logs.close)


def until(condition: Callable[[], bool], limit_s: float = 20.0) -> None:
    from kafka_connect_api.errors import GenericNotFound
    from requests.exceptions import HTTPError

    end = time.monotonic() + limit_s
    while True:
        with contextlib.suppress(HTTPError, GenericNotFound):
            if condition():
                return
        assert time.monotonic() < end
        time.sleep(0.05)


def kafka_connect_py_makes_its_round(url: str) -> None:
    from kafka_connect import KafkaConnect
    from requests.exceptions import HTTPError

    client = KafkaConnect(url=url)
    assert client.get_cluster_info()["version"] == "4.3.1"
    assert CLASS in [each["class"] for each in client.list_connector_plugins()]
    assert client.validate_connector_config("GenConnector", {**CONFIG, "name": "a"})["error_count"] == 0

    assert client.create_connector({"name": "a", "config": CONFIG})["name"] == "a"
    with pytest.raises(HTTPError, match="409"):
        client.create_connector({"name": "a", "config": CONFIG})

    def states() -> list[str]:
        status = client.get_connector_status("a")
        return [status["connector"]["state"], *(task["state"] for task in status["tasks"])]

    until(lambda: states() == ["RUNNING"] * 3)
    assert client.list_connectors() == ["a"]
    assert client.list_connectors(pattern="b.*") == []
    assert client.list_connectors(state="RUNNING") == ["a"]
    assert list(client.list_connectors(expand="status")) == ["a"]
    assert client.list_connectors(expand="info")["a"]["info"]["type"] == "source"
    until(lambda: client.get_connector("a")["name"] == "a")
    assert client.get_connector_config("a") == {**CONFIG, "name": "a"}
    assert [each["id"]["task"] for each in client.list_connector_tasks("a")] == [0, 1]
    assert client.get_connector_task_status("a", 1)["state"] == "RUNNING"
    until(lambda: client.list_connector_topics("a") == {"a": {"topics": ["numbers"]}})
    client.reset_connector_topics("a")

    assert client.restart_connector("a") is None
    plan = client.restart_connector("a", include_tasks=True)
    assert [task["state"] for task in plan["tasks"]] == ["RESTARTING"] * 2
    until(lambda: states() == ["RUNNING"] * 3)
    client.restart_connector_task("a", 0)
    client.restart_all_connectors(include_tasks=True, only_failed=True)
    with pytest.raises(HTTPError, match="Unknown connector: none"):
        client.restart_connector("none")

    client.pause_connector("a")
    until(lambda: states() == ["PAUSED"] * 3)
    client.resume_connector("a")
    until(lambda: states() == ["RUNNING"] * 3)
    client.pause_all_connectors()
    client.resume_all_connectors()
    client.stop_connector("a")
    until(lambda: states() == ["STOPPED"])
    client.stop_all_connectors()
    client.resume_connector("a")
    until(lambda: states() == ["RUNNING"] * 3)

    assert client.update_connector("a", {**CONFIG, "gen.tasks": "1"})["config"]["gen.tasks"] == "1"
    until(lambda: states() == ["RUNNING"] * 2)
    client.delete_connector("a")
    client.delete_all_connectors()
    until(lambda: client.list_connectors() == [])
    with pytest.raises(HTTPError, match="404"):
        client.get_connector("a")


def kafka_connect_api_makes_its_round(url: str) -> None:
    from kafka_connect_api.errors import GenericNotFound
    from kafka_connect_api.kafka_connect_api import Api, Cluster, Connector

    api = Api(url=url)
    cluster = Cluster(api)
    assert (cluster.version, bool(cluster.kafka_cluster)) == ("4.3.1", True)
    assert cluster.connectors == {}
    assert cluster.root_logger["level"] == "INFO"
    cluster.root_logger = "INFO"
    name = next(iter(cluster.loggers))
    assert cluster.set_logger_log_level(name, "INFO") == []

    connector = Connector(cluster, "b")
    with pytest.raises(GenericNotFound):
        connector.exists()
    connector.config = CONFIG
    until(lambda: [task["state"] for task in connector.status["tasks"]] == ["RUNNING"] * 2)
    until(connector.exists)
    assert list(cluster.connectors) == ["b"]
    assert connector.connector_class == CLASS
    assert connector.state == "RUNNING"
    assert [(task.id, task.config["gen.id"], task.is_running()) for task in connector.tasks] == [
        (0, "b-0", True),
        (1, "b-1", True),
    ]
    connector.restart()
    connector.restart_all_tasks()
    until(lambda: all(task.is_running() for task in connector.tasks))
    connector.cycle_connector()
    until(lambda: connector.state == "RUNNING")
    connector.pause()
    until(lambda: connector.state == "PAUSED")
    connector.resume()
    until(lambda: connector.state == "RUNNING")
    connector.delete()
    until(lambda: cluster.connectors == {})


CLIENTS = pytest.mark.parametrize(
    "round_of_calls",
    [kafka_connect_py_makes_its_round, kafka_connect_api_makes_its_round],
    ids=["kafka-connect-py", "kafka-connect-api"],
)


@CLIENTS
async def test_a_third_party_client_makes_its_whole_round_of_calls(
    tmp_path: Path, round_of_calls: Callable[[str], Any]
) -> None:
    async with workers(tmp_path) as url:
        await asyncio.to_thread(round_of_calls, url)


@CLIENTS
async def test_and_so_it_does_with_a_standalone_worker(tmp_path: Path, round_of_calls: Callable[[str], Any]) -> None:
    async with standalone(tmp_path) as url:
        await asyncio.to_thread(round_of_calls, url)
