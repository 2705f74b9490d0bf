"""KIP-987's test plan, live: data flows from a generator to a sink while workers roll to static assignments."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from assignment_api.connect import ConnectorTaskId, ConnectProtocol
from connect_workers.cluster import ConnectCluster
from tests.connect_workers.live import cluster, leader_or_any, put, retried, settings, states, until

STATIC = ConnectProtocol.STATIC


def arrived(path: Path) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    file = path / "files" / "out"
    for line in file.read_text().splitlines() if file.is_file() else ():
        record = json.loads(line)
        found.setdefault(record["generator"], []).append(record["n"])
    return found


async def flows(path: Path) -> None:
    before = {number: len(numbers) for number, numbers in arrived(path).items()}
    await until(lambda: all(len(arrived(path).get(number, ())) > before.get(number, 0) for number in range(2)))


def owner_of(made: ConnectCluster, job: str) -> list[str]:
    name, _, number = job.rpartition("-")
    return made.owners().get(ConnectorTaskId(name, int(number)) if name and number.isdigit() else job, [])


@pytest.mark.slow
@pytest.mark.parametrize("before", [ConnectProtocol.EAGER, ConnectProtocol.COMPATIBLE, ConnectProtocol.SESSIONED])
def test_rolling_to_static_loses_no_record(tmp_path: Path, before: ConnectProtocol) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 3, settings(before)) as made:
            # 1. The cluster works as before.
            await put(made, "gen", "generator", topic="t", tasks__max="2", records__per__second="100")
            await put(made, "sink", "file_sink", topics="t", tasks__max="2", file="out")
            await flows(tmp_path)
            # 2. Worker by worker, to the new protocol, as wildcard workers.
            for name in list(made.workers):
                await made.roll_worker(name, settings(STATIC))
                await made.until_calm()
                await flows(tmp_path)
            assert all(w.herder.loop.membership.state.protocol is STATIC for w in made.workers.values())
            made.add_worker("connector", 19_001, settings(STATIC, connectors="gen"))
            await made.until_calm()
            assert owner_of(made, "gen") == ["connector"]
            made.add_worker("task", 19_002, settings(STATIC, tasks="gen-0"))
            await made.until_calm()
            assert owner_of(made, "gen-0") == ["task"]
            made.add_worker("both", 19_003, settings(STATIC, connectors="gen", tasks="gen-0"))
            await made.until_calm()
            assert owner_of(made, "gen") == ["connector"]
            assert owner_of(made, "gen-0") == ["task"]
            await flows(tmp_path)
            # 4. If one leaves, the spare takes over at once.
            await made.stop_worker("task")
            await made.until_calm()
            assert owner_of(made, "gen-0") == ["both"]
            await flows(tmp_path)
            # 5. A wildcard worker leaves: the others take its jobs.
            await made.stop_worker("w1")
            await made.until_calm()
            assert set(made.owners()) == {
                "gen", "sink", *(ConnectorTaskId(name, number) for name in ("gen", "sink") for number in range(2))
            }  # fmt: skip
            await flows(tmp_path)
            # 6. Each job is in a worker's list, and the wildcard workers leave.
            rest = settings(STATIC, connectors="sink", tasks="gen-1,sink-0,sink-1")
            made.add_worker("rest", 19_004, rest)
            await made.until_calm()
            await made.stop_worker("w0")
            await made.stop_worker("w2")
            await made.until_calm()
            assert owner_of(made, "gen-1") == ["rest"]
            await flows(tmp_path)
            await until(lambda: states(made, "gen") == ["RUNNING"] * 3 and states(made, "sink") == ["RUNNING"] * 3)
            # 7. A static worker is killed, and comes back.
            made.kill_worker("rest")
            made.add_worker("rest", 19_005, rest)
            await made.until_calm()
            await flows(tmp_path)
            # The sources stop; the sinks catch up.
            await retried(lambda: leader_or_any(made).stop_connector("gen"))
            await made.until_calm()
            ends = made.logs.topics.ends()
            await until(lambda: all(made.logs.offsets.of_sink("sink", *at) == end for at, end in ends.items()))
            assert made.logs.ledger.double_runs == []

    asyncio.run(scenario())
    for generator, numbers in arrived(tmp_path).items():
        assert set(numbers) == set(range(max(numbers) + 1)), f"generator {generator} has lost records"
    assert sorted(arrived(tmp_path)) == [0, 1]


def test_an_unlisted_job_waits_where_there_is_no_wildcard_worker(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 1, settings(STATIC, connectors="a", tasks="a-0")) as made:
            await put(made, "a", "tracked", tasks__max="2")
            assert made.owners() == {"a": ["w0"], ConnectorTaskId("a", 0): ["w0"]}
            made.add_worker("wildcard", 19_001, settings(STATIC))
            await made.until_calm()
            assert owner_of(made, "a-1") == ["wildcard"]

    asyncio.run(scenario())


def test_one_worker_without_the_protocol_makes_the_lists_mean_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 1, settings(STATIC, tasks="a-0")) as made:
            made.add_worker("old", 19_001, settings(ConnectProtocol.SESSIONED))
            await made.until_calm()
            await put(made, "a", "tracked", tasks__max="2")
            assert {worker.herder.loop.membership.state.protocol for worker in made.workers.values()} == {
                ConnectProtocol.SESSIONED
            }
            assert sorted(len(owners) for owners in made.owners().values()) == [1, 1, 1]

    asyncio.run(scenario())
