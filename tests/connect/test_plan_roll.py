"""The page *Plan a rolling restart of Connect workers* on a real cluster of three workers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.cli.main import main
from tests.connect.real_kafka import RealConnect, real_connect, until

pytestmark = pytest.mark.services

MAX_DELAY_MS = 5_000
TASKS = 6


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealConnect]:
    yield from real_connect(tmp_path_factory.mktemp("kafka"), workers=3, max_delay_ms=MAX_DELAY_MS)


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    assert left.value.code == 0
    return capsys.readouterr().out


def test_a_roll_is_planned_from_the_running_cluster_and_keeps_to_the_plan(
    kafka: RealConnect, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {"connector.class": "FileStreamSink", "tasks.max": str(TASKS), "topics": "t", "file": "/dev/null"}
    kafka.put("files", config)
    until(lambda: kafka.states("files", "w1") == ["RUNNING"] * (TASKS + 1), "the tasks")
    time.sleep(3)

    # 1. Capture the group.
    state = tmp_path / "connect.jsonl"
    urls = [word for url in kafka.urls.values() for word in ("--url", url)]
    told(
        capsys,
        "connect",
        "import",
        *urls,
        "-c",
        f"scheduled.rebalance.max.delay.ms={MAX_DELAY_MS}",
        "--out",
        str(state),
    )

    # 2. Predict.
    order = [url.removeprefix("http://") for url in kafka.urls.values()]
    plan: dict[str, Any] = json.loads(
        told(capsys, "plan", str(state), "roll", "--order", ",".join(order), "--start-seconds", "5", "--wait", "10",
             "-c", "heartbeat.interval.ms=1000", "--json")
    )  # fmt: skip
    assert [step["name"] for step in plan["steps"]] == order
    assert {"delay 0 s", "leader first", "leader last"} <= set(plan["variants"])
    assert set(plan["by_connector"]) == {"files"}

    # 3. The first step: every job runs again, on a worker that lives, within the plan.
    kafka.stop("w1")
    begin = time.monotonic()
    living = set(order[1:])

    def all_run() -> bool:
        status = kafka.status("files", "w2")
        jobs = [status["connector"], *status["tasks"]] if "connector" in status else []
        return bool(jobs) and all(job["state"] == "RUNNING" and job["worker_id"] in living for job in jobs)

    until(all_run, "every job on a living worker")
    assert time.monotonic() - begin <= plan["steps"][0]["worst_task_seconds"]["high"] + 5

    # 4. One history of the same state, with an event.
    event = json.dumps({"at_ms": 1_000, "type": "stop", "worker": order[1]})
    played = json.loads(told(capsys, "connect", "simulate", str(state), "--event", event, "--json"))
    assert len(played) == 1
