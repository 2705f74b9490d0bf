"""The page *Isolate a connector (KIP-987)* on a real cluster of three workers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.cli.main import main
from tests.connect.real_kafka import RealConnect, free_ports, real_connect, until

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealConnect]:
    yield from real_connect(tmp_path_factory.mktemp("kafka"), workers=3)


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(["connect", *arguments])
    assert left.value.code == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_connector_of_a_running_cluster_is_planned_on_a_worker_of_its_own(
    kafka: RealConnect, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, tasks in (("orders", 4), ("others", 5)):
        config = {"connector.class": "FileStreamSink", "tasks.max": str(tasks), "topics": "t", "file": "/dev/null"}
        kafka.put(name, config)
        until(lambda name=name, tasks=tasks: kafka.states(name, "w1") == ["RUNNING"] * (tasks + 1), "the tasks")  # type: ignore[misc]
    urls = [word for url in kafka.urls.values() for word in ("--url", url)]
    workers = [url.removeprefix("http://") for url in kafka.urls.values()]
    alone = workers[0]

    # 1. The plan of the running cluster.
    plan = told(capsys, "plan-static", *urls, "--isolate", f"orders={alone}", "--json")
    assert set(plan["workers"]) == set(workers)
    assert plan["workers"][alone]["static.connectors"] == "orders"
    assert plan["workers"][alone]["static.tasks"] == "orders-0,orders-1,orders-2,orders-3"
    assert {keys["connect.protocol"] for keys in plan["workers"].values()} == {"static"}
    status = {name: kafka.status(name, "w1") for name in ("orders", "others")}
    places = {name: each["connector"]["worker_id"] for name, each in status.items()} | {
        f"{name}-{task['id']}": task["worker_id"] for name, each in status.items() for task in each["tasks"]
    }
    assert all(places[each["job"]] == each["before"] for each in plan["moved"])
    assert {each["job"] for each in plan["moved"] if each["after"] == alone} == {
        job for job, worker in places.items() if job.startswith("orders") and worker != alone
    }
    assert [each["delay_ms"] for each in plan["rounds"]] == [0, 0]

    # 2. The same from a state that was saved.
    state = tmp_path / "state.jsonl"
    with pytest.raises(SystemExit) as left:
        main(["connect", "import", *urls, "--out", str(state)])
    assert left.value.code == 0
    assert told(capsys, "plan-static", str(state), "--isolate", f"orders={alone}", "--json") == plan

    # 3. No release of Kafka has the protocol: a worker with it ends.
    (port,) = free_ports(1)
    kafka.start_worker("w4", port, protocol="static")
    del kafka.urls["w4"]
    until(lambda: kafka.processes["w4"].poll() is not None, "the end of a worker with connect.protocol=static")
    assert "Invalid Connect protocol compatibility" in (kafka.directory / "w4.out").read_text()
