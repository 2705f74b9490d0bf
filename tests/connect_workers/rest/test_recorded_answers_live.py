"""The recorded requests on live workers: responses come from running connectors, not from a script."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import attrs
import httpx
import pytest

from assignment_api.connect import ConnectProtocol
from connect_workers.cluster import ConnectCluster
from connect_workers.served_cluster import ServedCluster
from tests.connect_workers.live import TIMINGS, settings
from tests.connect_workers.rest.gen_connector import FAILING, PLUGINS
from tests.connect_workers.rest.intended import intended
from tests.connect_workers.rest.recorded import FIXED, RECORDINGS, Exchange, differences, exchanges, send

pytestmark = [pytest.mark.anyio, pytest.mark.services]

#: If the real cluster had just lost or got a worker, the owners of jobs are random.
_MOVING = ("kill", "within", "some time", "stable after the delay", "join", "orderly")
#: A response during a change may show the state before or after it.
_PASSING = ("just after", "status just after", "burst", "asked all the time")

#: Recorded in `sessioned`. While configurations change, no coordinator of a busy machine missed the real workers.
_NO_LEADER = "no known leader URL"


class World:
    def __init__(self, served: ServedCluster, protocol: ConnectProtocol) -> None:
        self.served = served
        self.protocol = protocol
        self.names: dict[str, str] = {}
        self.clients: dict[str, httpx.AsyncClient] = {}

    async def add(self, recorded: str) -> None:
        worker = await self.served.add(0, settings(self.protocol, delay_ms=300), f"w{recorded[-1]}")
        self.names[recorded] = worker.name
        self.clients[recorded] = httpx.AsyncClient(base_url=worker.url, timeout=20)

    async def kill(self, recorded: str) -> None:
        await self.served.kill(self.names.pop(recorded))
        await self.clients.pop(recorded).aclose()

    async def stop(self, recorded: str) -> None:
        await self.served.stop(self.names.pop(recorded))
        await self.clients.pop(recorded).aclose()

    async def calm(self) -> None:
        await self.served.cluster.until_calm()

    async def ask(self, exchange: Exchange) -> tuple[Exchange, httpx.Response]:
        client = self.clients[exchange.worker]
        here = f"{client.base_url.host}:{client.base_url.port}"
        headers = {name: value.replace(exchange.worker, here) for name, value in exchange.headers.items()}
        return attrs.evolve(exchange, headers=headers), await send(client, exchange)


@contextlib.asynccontextmanager
async def world(path: Path, workers: Sequence[str], protocol: ConnectProtocol) -> AsyncIterator[World]:
    FAILING.clear()
    async with ConnectCluster(path, TIMINGS, PLUGINS, offset_flush_interval_ms=50) as cluster:
        made = World(ServedCluster(cluster), protocol)
        for worker in workers:
            await made.add(worker)
        await made.calm()
        try:
            yield made
        finally:
            for client in made.clients.values():
                await client.aclose()
            await made.served.close()


# --- events between the requests ------------------------------------------------------------------

W1, W2, W3, W4, W5 = (f"127.0.0.1:1808{number}" for number in range(1, 6))
W91, W92 = "127.0.0.1:18091", "127.0.0.1:18092"


async def happened_before(exchange: Exchange, made: World) -> None:
    last = W5 if exchange.where.startswith("eager") else W3
    match exchange.state, exchange.what:
        case "kill, return within the delay", _:
            await made.kill(last)
        case "within the scheduled delay", _:
            await made.add(last)
            await made.calm()
        case "kill, no return: within the delay", _ if W3 in made.names:
            await made.kill(W3)
        case "join of a third", _ if W3 not in made.names:
            await made.add(W3)
        case "orderly stop of w2", _:
            await made.stop(W2)
        case "REST: reads", _ if W2 not in made.names:
            await made.add(W2)
        case "REST: a failed task", "two failed tasks":
            FAILING.update({"gen-b-1", "gen-b-4"})
        case "REST: a failed task", "two failed tasks, one will fail again":
            FAILING.discard("gen-b-1")
        case "REST: a failed task", "task restart of a failed task":
            FAILING.clear()
        case _:
            pass


def alternatives(exchange: Exchange) -> list[Exchange]:
    """The recorded answers, each of which is acceptable."""
    if not exchange.what.startswith(_PASSING):
        return [exchange]
    return [
        each
        for recording in RECORDINGS
        for each in exchanges(recording)
        if (each.method, _of_any(each.path)) == (exchange.method, _of_any(exchange.path))
    ]


def _of_any(path: str) -> str:
    return re.sub(r"^/connectors/[^/?]+", "/connectors/*", path)


async def replayed(recording: Sequence[Exchange], made: World) -> list[tuple[Exchange, str]]:
    """Differences."""
    found = []
    for exchange in recording:
        await happened_before(exchange, made)
        if not exchange.what.startswith(("just after", "status just after", "burst", "asked")):
            await made.calm()
        fixed = FIXED - {"state"} if exchange.state.startswith(_MOVING) else FIXED
        deadline = asyncio.get_running_loop().time() + 5
        while True:
            different = await _different(exchange, alternatives(exchange), made, fixed)
            is_read = (
                exchange.method == "GET"
                and not exchange.what.startswith(_PASSING)
                and asyncio.get_running_loop().time() < deadline
            )
            if not is_read or all(_is_intended(exchange, each) for each in different):
                break
            await asyncio.sleep(0.02)
        found += [(exchange, each) for each in different]
    return found


async def _different(exchange: Exchange, recorded: Sequence[Exchange], made: World, fixed: frozenset[str]) -> list[str]:
    here, answer = await made.ask(exchange)
    candidates = [
        differences(attrs.evolve(each, headers=here.headers if each is exchange else each.headers), answer, fixed)
        for each in recorded
    ]
    if exchange.what.startswith(_PASSING):
        candidates = [_of_the_moment_too(found) for found in candidates]
    return min(candidates, key=len)


def _of_the_moment_too(found: Sequence[str]) -> list[str]:
    """Differences at a quiet time, or about another connector."""
    passing = re.compile(r".*items instead of.*|.*\.(state|type): .*|\.tasks\[\d+\]: fields .*'trace'.*")
    return [each for each in found if not passing.fullmatch(each)]


def _is_intended(exchange: Exchange, found: str) -> bool:
    return any(line.covers(exchange, found) for line in (*intended(live=False), *intended(live=True)))


# --- tests ----------------------------------------------------------------------------------------


def unexpected(found: Sequence[tuple[Exchange, str]]) -> list[str]:
    return [
        f"{each.where} {each.method} {each.path} ({each.what}): {what}"
        for each, what in found
        if not _is_intended(each, what)
    ]


async def test_live_workers_answer_as_the_recorded_ones_and_differ_in_nothing_that_is_not_listed(
    tmp_path: Path,
) -> None:
    recording = exchanges("sessioned")
    async with world(tmp_path, (W1, W2, W3), ConnectProtocol.SESSIONED) as made:
        found = await replayed(recording, made)
    assert unexpected(found) == []
    assert [line for line in intended(live=True) if not any(line.covers(*each) for each in found)] == []


async def test_live_workers_of_the_eager_protocol_do_so_too(tmp_path: Path) -> None:
    recording = [each for each in exchanges("eager") if each.what != "worker left in order, within the delay"]
    async with world(tmp_path, (W4, W5), ConnectProtocol.EAGER) as made:
        assert unexpected(await replayed(recording, made)) == []


async def test_while_configurations_change_all_the_time_every_answer_is_one_that_was_recorded(tmp_path: Path) -> None:
    recording = exchanges("conflict")
    asked = {(each.method, each.path, each.worker): each for each in recording if each.what.startswith("asked")}
    changes = [each for each in recording if each.state == "conflicts" and not each.what.startswith("asked")]
    wrong: list[str] = []
    conflicts: set[int] = set()

    async def ask_on(exchange: Exchange, made: World) -> None:
        recorded = [each for each in recording if (each.method, each.path) == (exchange.method, exchange.path)]
        while True:
            _, answer = await made.ask(exchange)
            conflicts.add(answer.status_code)
            if _NO_LEADER not in answer.text:
                candidates: list[list[str]] = [_of_the_moment_too(differences(each, answer)) for each in recorded]
                least = min(candidates, key=len)
                wrong.extend(least)
            await asyncio.sleep(0.01)

    async with world(tmp_path, (W91, W92), ConnectProtocol.SESSIONED) as made:
        for exchange in recording[:2]:
            await made.ask(exchange)
        await made.calm()
        asking = [asyncio.create_task(ask_on(each, made)) for each in asked.values()]
        for exchange in changes:
            here, answer = await made.ask(exchange)
            while _NO_LEADER in answer.text:
                here, answer = await made.ask(exchange)
            wrong += [each for each in differences(here, answer) if "items instead of" not in each]
            await asyncio.sleep(0.05)
        end = asyncio.get_running_loop().time() + 20
        replacements = [each for each in changes if each.what == "replace"]
        # On a busy machine no request may have come at the wrong moment yet.
        while not conflicts >= {200, 409} and asyncio.get_running_loop().time() < end:
            for exchange in replacements:
                await made.ask(exchange)
        for task in asking:
            task.cancel()
        await asyncio.wait(asking)
    assert wrong == []
    assert {200, 409} <= conflicts
