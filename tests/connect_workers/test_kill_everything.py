from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest

from assignor_lab.kafka.herder.config_log.reader import ConfigSnapshot, snapshot_of
from connect_workers.storage import RecordLog

pytestmark = pytest.mark.services

CYCLES, CONNECTORS, TASKS, CLIENTS = 20, 20, 5, 50
LAST_CALM_S = 60.0


@attrs.define
class Client:
    """Writes one connector of its own; it knows the acknowledged state, and the requests in transit."""

    number: int
    possible: list[str | None] = attrs.field(factory=lambda: [None])
    #: Requests without an answer: while the process lives, each may still take effect.
    lost: list[str | None] = attrs.field(factory=list)
    acknowledged: int = 0

    @property
    def name(self) -> str:
        return f"x{self.number}"

    async def write(self, http: httpx.AsyncClient, urls: list[str], draw: random.Random) -> None:
        for step in itertools.count(self.acknowledged + 1):
            url = draw.choice(urls)
            known = self.possible[-1] if len(self.possible) == 1 else None
            value: str | None = f"{self.number}.{step}.{draw.randrange(1 << 30)}"
            config = {"connector.class": "tracked", "n": value}
            if known is None:
                document = {"name": self.name, "config": {**config, "name": self.name}, "initial_state": "STOPPED"}
                request = http.post(f"{url}connectors", json=document)
            elif draw.random() < 0.1:
                value, request = None, http.delete(f"{url}connectors/{self.name}")
            else:
                request = http.put(f"{url}connectors/{self.name}/config", json=config)
            self.possible.append(value)
            try:
                answer = await request
            except httpx.HTTPError:
                # A worker was lost with our request.
                self.lost.append(value)
                await asyncio.sleep(0.02)
                continue
            if answer.status_code < 300:
                self.possible = [*self.lost, value]
                self.acknowledged += 1
            elif answer.status_code >= 500:
                self.lost.append(value)
            else:
                await asyncio.sleep(0.02)
                await self.look(http, urls)

    def settle(self, value: str | None) -> None:
        """No request is in transit any more, and this is the state."""
        assert value in self.possible, f"{self.name} is {value}, and can be {self.possible}"
        self.possible, self.lost = [value], []

    async def look(self, http: httpx.AsyncClient, urls: list[str]) -> None:
        """The state must be one that was sent."""
        for url in urls:
            try:
                answer = await http.get(f"{url}connectors?expand=info")
            except httpx.HTTPError:
                continue
            if answer.status_code == 200:
                found = answer.json().get(self.name)
                value = None if found is None else found["info"]["config"]["n"]
                assert value in self.possible, f"{self.name} is {value}, and can be {self.possible}"
                return


@attrs.define
class Killed:
    """The killed process, and its output."""

    process: asyncio.subprocess.Process
    said: asyncio.Queue[list[str]] = attrs.field(factory=asyncio.Queue)
    twice: list[str] = attrs.field(factory=list)

    async def listen(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            words = line.decode().split()
            if words[0] == "twice":
                self.twice.append(words[1])
            else:
                self.said.put_nowait(words)

    async def expect(self, word: str) -> list[str]:
        async with asyncio.timeout(LAST_CALM_S):
            words = await self.said.get()
        assert words[0] == word, words
        return words[1:]

    async def start(self, directory: Path, seed: int) -> tuple[int, list[str]]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"start {directory} {seed}\n".encode())
        (process,) = await self.expect("process")
        return int(process), await self.expect("urls")


async def run(directory: Path, seed: int) -> dict[str, Any]:
    draw = random.Random(seed)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    started = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.connect_workers.crash_process", env=environment, stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    killed = Killed(started)
    listening = asyncio.create_task(killed.listen())
    clients = [Client(number) for number in range(CLIENTS)]
    try:
        for cycle in range(CYCLES + 1):
            process, urls = await killed.start(directory, draw.randrange(1 << 30))
            await killed.expect("calm")
            limits = httpx.Limits(max_connections=CLIENTS)
            async with httpx.AsyncClient(trust_env=False, timeout=10, limits=limits) as http:
                if cycle == 0:
                    await create_all(http, urls)
                else:
                    await check_state(http, urls, clients)
                if cycle == CYCLES:
                    await check_everything_runs(http, urls, directory)
                writing = [asyncio.create_task(client.write(http, urls, draw)) for client in clients]
                await asyncio.sleep(draw.uniform(0.4, 0.9))
                os.kill(process, signal.SIGKILL)
                await killed.expect("ended")
                for task in writing:
                    task.cancel()
                await asyncio.gather(*writing, return_exceptions=True)
                failed = [task.exception() for task in writing if task.done() and not task.cancelled()]
                assert not [error for error in failed if error is not None], failed
            check_log(directory, clients)
    finally:
        # The cluster is its child, and must end with it.
        os.killpg(started.pid, signal.SIGKILL)
        await started.wait()
        listening.cancel()
    return {"acknowledged": sum(client.acknowledged for client in clients), "twice": killed.twice}


async def create_all(http: httpx.AsyncClient, urls: list[str]) -> None:
    for number in range(CONNECTORS):
        config = {"connector.class": "tracked", "tasks.max": str(TASKS)}
        await accepted(http, urls, f"connectors/t{number}/config", config)
    generator = {
        "connector.class": "generator", "topic": "numbers", "tasks.max": "3", "records.per.second": "20",
    }  # fmt: skip
    await accepted(http, urls, "connectors/generator/config", generator)
    sink = {"connector.class": "file_sink", "topics": "numbers", "tasks.max": "2", "file": "numbers"}
    await accepted(http, urls, "connectors/sink/config", sink)


async def accepted(http: httpx.AsyncClient, urls: list[str], path: str, config: dict[str, str]) -> None:
    for attempt in range(500):
        try:
            answer = await http.put(f"{urls[attempt % len(urls)]}{path}", json=config)
        except httpx.HTTPError:
            continue
        if answer.status_code < 300:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{path} was never accepted")


async def check_state(http: httpx.AsyncClient, urls: list[str], clients: list[Client]) -> None:
    for url in urls:
        try:
            answer = await http.get(f"{url}connectors?expand=info")
        except httpx.HTTPError:
            continue
        infos = answer.json()
        for client in clients:
            found = infos.get(client.name)
            value = None if found is None else found["info"]["config"]["n"]
            client.settle(value)
        assert {f"t{number}" for number in range(CONNECTORS)} <= set(infos)
        return
    raise AssertionError("no worker answers")


def check_log(directory: Path, clients: list[Client]) -> None:
    """The disk after the kill has all acknowledged states."""
    snapshot = read_log(directory)
    for client in clients:
        config = snapshot.connectors.get(client.name)
        value = None if config is None else config["n"]
        # From now on all workers must report the log's state.
        client.settle(value)


def read_log(directory: Path) -> ConfigSnapshot:
    log = RecordLog(directory / "config.log")
    try:
        return snapshot_of(log.records())
    finally:
        log.close()


async def check_everything_runs(http: httpx.AsyncClient, urls: list[str], directory: Path) -> None:
    """Waits until all configured tasks of the log run."""
    wanted = {f"t{number}": TASKS for number in range(CONNECTORS)} | {"generator": 3, "sink": 2}
    counts: dict[str, list[str]] = {}
    for _ in range(600):
        await asyncio.sleep(0.1)
        try:
            statuses = (await http.get(f"{urls[0]}connectors?expand=status")).json()
        except httpx.HTTPError:
            continue
        counts = {
            name: [task["state"] for task in statuses.get(name, {"status": {"tasks": []}})["status"]["tasks"]]
            for name in wanted
        }
        if all(states == ["RUNNING"] * wanted[name] for name, states in counts.items()):
            return
    raise AssertionError(f"not everything runs: {counts}")


def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    # A browser of other tests may have a loop running in this thread.
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(asyncio.run, run(tmp_path / "data", 745)).result()
    assert done["acknowledged"] > 100
    assert done["twice"] == []
    numbers = read_numbers(tmp_path / "data")
    for generator, seen in numbers.items():
        assert seen == set(range(max(seen) + 1)), f"records of generator {generator} are missing"


def read_numbers(directory: Path) -> dict[int, set[int]]:
    numbers: dict[int, set[int]] = {}
    for line in (directory / "files" / "numbers").read_text().splitlines():
        record = json.loads(line)
        numbers.setdefault(record["generator"], set()).add(record["n"])
    return numbers
