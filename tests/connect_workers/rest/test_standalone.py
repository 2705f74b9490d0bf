"""A worker without a group answers restarts after the restart, and 404 if Kafka's worker continues.

Kafka: ``StandaloneHerder``.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from connect_workers.herders.standalone import StandaloneHerder
from connect_workers.logs.cluster_logs import ClusterLogs
from connect_workers.rest import create_app
from tests.connect_workers.live import settings
from tests.connect_workers.rest.clients import client_of
from tests.connect_workers.rest.gen_connector import FAILING, PLUGINS

pytestmark = pytest.mark.anyio

CONFIG = {"connector.class": "live.GenConnector", "tasks.max": "2", "gen.tasks": "2", "gen.topic": "t"}


@contextlib.asynccontextmanager
async def standalone(path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Client of a standalone worker with connector ``a``; everything runs."""
    FAILING.clear()
    logs = ClusterLogs(path, 50)
    logs.start()
    herder = StandaloneHerder("127.0.0.1:8083", settings(), logs, PLUGINS)
    await herder.start()
    async with client_of(create_app(herder)) as client:
        await client.put("/connectors/a/config", json=CONFIG)
        await until_states(client, ["RUNNING", "RUNNING", "RUNNING"])
        yield client
    await herder.stop()
    await asyncio.to_thread(logs.close)


async def until_states(client: httpx.AsyncClient, wanted: list[str]) -> None:
    async with asyncio.timeout(20):
        while await states(client) != wanted:
            await asyncio.sleep(0.01)


async def states(client: httpx.AsyncClient) -> list[str]:
    status = (await client.get("/connectors/a/status")).json()
    if "connector" not in status:
        return []
    return [status["connector"]["state"], *(task["state"] for task in status["tasks"])]


async def test_what_is_unknown_is_404(tmp_path: Path) -> None:
    async with standalone(tmp_path) as client:
        answers = [
            await client.post("/connectors/none/restart"),
            await client.post("/connectors/none/restart?includeTasks=true"),
            await client.post("/connectors/a/tasks/9/restart"),
            await client.put("/connectors/none/stop"),
        ]
        status = await client.get("/connectors/a/tasks/9/status")
    assert [(each.status_code, each.json()["message"]) for each in answers] == [
        (404, "Unknown connector: none"),
        (404, "Unknown connector: none"),
        (404, "Unknown task: a-9"),
        (404, "Unknown connector none"),
    ]
    assert status.status_code == 404


async def test_a_restart_with_tasks_is_done_when_it_is_answered(tmp_path: Path) -> None:
    async with standalone(tmp_path) as client:
        FAILING.add("a-1")
        await until_states(client, ["RUNNING", "RUNNING", "FAILED"])
        FAILING.clear()
        answer = await client.post("/connectors/a/restart?includeTasks=true&onlyFailed=true")
        assert answer.status_code == 202
        plan = answer.json()
        assert [plan["connector"]["state"], *(task["state"] for task in plan["tasks"])] == [
            "RUNNING",
            "RUNNING",
            "RESTARTING",
        ]
        await until_states(client, ["RUNNING", "RUNNING", "RUNNING"])


async def test_a_plain_restart_has_no_body(tmp_path: Path) -> None:
    async with standalone(tmp_path) as client:
        answer = await client.post("/connectors/a/restart")
    assert (answer.status_code, answer.content) == (204, b"")
