"""Waiting for the herder ends after Connect's limits, with the worker's present action."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from connect_workers import contract as h
from connect_workers.cluster import ConnectCluster
from connect_workers.plugins.connector_plugins import ConnectorPlugins, connector_kind
from connect_workers.rest import RestSettings
from tests.connect_workers.live import TIMINGS, settings
from tests.connect_workers.rest.clients import ask
from tests.connect_workers.rest.gen_connector import GenConnector
from tests.connect_workers.rest.pretend_herder import PretendCluster, PretendHerder

pytestmark = pytest.mark.anyio

SOON = RestSettings(request_timeout_s=0.01, health_timeout_s=0.01)
NOW = h.WorkerStage("reading to the end of the config topic", 1_795_234_413_241)
THEN = h.WorkerStage("polling the group coordinator for up to 2500ms", 1_795_234_413_000, 1_795_234_415_500)


def stuck(stage: h.WorkerStage, *, ready: bool = True) -> PretendHerder:
    cluster = PretendCluster(configs={"a": {}}, targets={"a": "STOPPED"})
    return PretendHerder(cluster, stage=stage, ready=ready, hold=asyncio.Event())


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/connectors/a"),
        ("GET", "/connectors/a/offsets"),
        ("PUT", "/connectors/a/stop"),
        ("PUT", "/connectors/a/pause"),
        ("POST", "/connectors/a/restart?onlyFailed=true"),
        ("POST", "/connectors/a/tasks/0/restart"),
        ("DELETE", "/connectors/a/offsets"),
        ("DELETE", "/connectors/a"),
    ],
)
async def test_a_herder_that_does_not_answer_is_an_error_500(method: str, path: str) -> None:
    answer = await ask(stuck(NOW), method, path, settings=SOON)
    assert answer.status_code == 500
    assert answer.json()["message"] == (
        "Request timed out. The worker is currently reading to the end of the config topic, which began at "
        "2026-11-21T04:13:33.241Z."
    )


async def test_a_stage_that_is_over_is_told_with_its_end() -> None:
    answer = await ask(stuck(THEN), "GET", "/connectors/a", settings=SOON)
    assert answer.json()["message"] == (
        "Request timed out. The last operation the worker completed was polling the group coordinator for up to "
        "2500ms, which began at 2026-11-21T04:13:33Z and completed at 2026-11-21T04:13:35.500Z."
    )


async def test_a_worker_that_does_not_come_round_is_unhealthy() -> None:
    answer = await ask(stuck(NOW), "GET", "/health", settings=SOON)
    assert answer.status_code == 500
    assert list(answer.json()) == ["status", "message"]
    assert answer.json()["status"] == "unhealthy"
    assert answer.json()["message"].startswith(
        "Worker was unable to handle this request and may be unable to handle other requests. The worker is currently"
    )


async def test_a_worker_that_starts_is_not_ready() -> None:
    answer = await ask(stuck(NOW, ready=False), "GET", "/health", settings=SOON)
    assert answer.status_code == 503
    assert answer.json()["status"] == "starting"
    assert answer.json()["message"].startswith("Worker is still starting up. The worker is currently")


async def test_reads_from_memory_do_not_wait() -> None:
    herder = stuck(NOW)
    herder.cluster.settle()
    for path in ("/", "/connectors", "/connectors?expand=status&expand=info", "/connectors/a/status"):
        assert (await ask(herder, "GET", path, settings=SOON)).status_code == 200


def test_the_limits_are_connects() -> None:
    assert (RestSettings().request_timeout_s, RestSettings().health_timeout_s) == (90, 10)


# --- live -----------------------------------------------------------------------------------------


class HeldBack(GenConnector):
    """A connector that starts on permission."""

    allowed: ClassVar[threading.Event] = threading.Event()

    def start(self, config: Mapping[str, str]) -> None:
        assert self.allowed.wait(30)
        super().start(config)


@pytest.mark.slow
async def test_a_connector_survives_that_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    plugins = ConnectorPlugins([connector_kind("held", HeldBack, ["live.HeldBack"])])
    config = {"connector.class": "live.HeldBack", "gen.topic": "t", "gen.tasks": "1"}
    async with ConnectCluster(tmp_path, TIMINGS, plugins, offset_flush_interval_ms=50) as cluster:
        HeldBack.allowed.set()
        worker = cluster.add_worker("w1", 18_083, settings())
        await cluster.until_calm()
        assert (await ask(worker.herder, "PUT", "/connectors/a/config", json=config)).status_code == 201
        await cluster.until_calm()
        HeldBack.allowed.clear()
        hasty = RestSettings(request_timeout_s=0.1)
        given_up = await ask(worker.herder, "POST", "/connectors/a/restart", settings=hasty)
        assert given_up.status_code == 500
        assert given_up.json()["message"].startswith("Request timed out. ")
        HeldBack.allowed.set()
        patient = await ask(worker.herder, "POST", "/connectors/a/restart")
        assert patient.status_code == 204
        await cluster.until_calm()
        status = (await ask(worker.herder, "GET", "/connectors/a/status")).json()
    assert (status["connector"]["state"], status["tasks"][0]["state"]) == ("RUNNING", "RUNNING")
