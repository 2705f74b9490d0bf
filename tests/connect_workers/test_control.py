"""A user adds, stops, kills and rolls workers while the cluster runs."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from connect_workers.cluster import ConnectCluster
from connect_workers.control import ControlError, ask, listen
from connect_workers.served_cluster import ServedCluster
from tests.connect_workers.live import PLUGINS, REGISTRY, TIMINGS, settings


@contextlib.asynccontextmanager
async def running(path: Path) -> AsyncIterator[ServedCluster]:
    async with ConnectCluster(path, TIMINGS, PLUGINS, REGISTRY, offset_flush_interval_ms=50) as cluster:
        served = ServedCluster(cluster)
        async with listen(served, settings()):
            await served.add(0, settings())
            yield served
        await served.close()


async def told(path: Path, **command: Any) -> list[dict[str, Any]]:
    return await asyncio.to_thread(ask, path, command)


async def version(url: str) -> str:
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.get(url)
    text: str = answer.json()["version"]
    return text


@pytest.mark.slow
def test_workers_come_and_go_by_command(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as served:
            (first,) = await told(tmp_path, do="list")
            assert first["worker"] == "w1"
            assert await version(first["url"]) == "4.3.1"
            _, second = await told(tmp_path, do="add", settings={"protocol": "static", "static_tasks": "a-0"})
            assert second["static_tasks"] == ["a-0"]
            assert await version(second["url"]) == "4.3.1"
            await served.cluster.until_calm()
            changes = {"protocol": "static", "static_connectors": "a,b", "max_delay_ms": 7}
            rolled = await told(tmp_path, do="roll", worker="w1", settings=changes)
            (again,) = (each for each in rolled if each["worker"] == "w1")
            assert again["url"] == first["url"]
            assert (again["static_connectors"], again["static_tasks"], again["max_delay_ms"]) == (["a", "b"], None, 7)
            assert await version(again["url"]) == "4.3.1"
            assert len(await told(tmp_path, do="kill", worker="w1")) == 1
            with pytest.raises(httpx.ConnectError):
                await version(first["url"])
            assert await told(tmp_path, do="stop", worker="w2") == []

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ({"do": "kill", "worker": "w7"}, "there is no worker 'w7': there are w1"),
        ({"do": "fly"}, "no command"),
        ({}, "no command"),
        ({"do": "add", "settings": {"protocol": "newest"}}, "use one of eager, compatible, sessioned, static"),
        ({"do": "add", "settings": {"static_tasks": "x"}}, "is not the id of a connector's task"),
        ({"do": "add", "settings": {"max_delay_ms": -1}}, "give 0 to"),
        ({"do": "add", "settings": {"colour": "red"}}, "there is no setting 'colour'"),
        ({"do": "add", "port": "x"}, "port 'x'"),
        ({"do": "add", "name": "../w"}, "is no name of a worker"),
        ({"do": "add", "name": "w1"}, "already"),
        ({"do": "add", "settings": []}, "no command"),
    ],
)
def test_a_wrong_command_is_refused_and_changes_nothing(tmp_path: Path, command: dict[str, Any], problem: str) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with running(tmp_path):
            if command.get("settings") == []:
                return await told(tmp_path, do="list")
            with pytest.raises(ControlError, match=problem):
                await told(tmp_path, **command)
            return await told(tmp_path, do="list")

    assert [each["worker"] for each in asyncio.run(scenario())] == ["w1"]


@pytest.mark.parametrize(
    "sent", [b"", b"\n", b"{\n", b"[1]\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n", b"x" * 2_000_000]
)
def test_whatever_is_sent_the_socket_goes_on_answering(tmp_path: Path, sent: bytes) -> None:
    def send() -> None:
        with socket.socket(socket.AF_UNIX) as talking:
            talking.settimeout(5)
            talking.connect(str(tmp_path / "control"))
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                talking.sendall(sent)
                talking.shutdown(socket.SHUT_WR)
                talking.recv(1 << 16)

    async def scenario() -> list[dict[str, Any]]:
        async with running(tmp_path):
            await asyncio.to_thread(send)
            return await told(tmp_path, do="list")

    assert len(asyncio.run(scenario())) == 1


def test_the_socket_is_the_owners_alone_and_goes_with_the_cluster(tmp_path: Path) -> None:
    async def scenario() -> int:
        async with running(tmp_path):
            return stat.S_IMODE((tmp_path / "control").stat().st_mode)

    assert asyncio.run(scenario()) == 0o600
    with pytest.raises(ControlError, match="no cluster answers here"):
        ask(tmp_path, {"do": "list"})


def test_a_long_path_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / ("d" * 120)

    async def scenario() -> int:
        async with running(path):
            return len(await told(path, do="list"))

    assert asyncio.run(scenario()) == 1
