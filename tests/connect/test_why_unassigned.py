"""The page *Why is it UNASSIGNED* on a real cluster of three workers: one leaves in order, and its jobs wait."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.capture.logs.connect.messages import Completed
from assignor_lab.capture.logs.connect.processes import worker_logs
from assignor_lab.cli.main import main
from tests.connect.real_kafka import RealConnect, real_connect, until

pytestmark = pytest.mark.services

MAX_DELAY_MS = 15_000


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealConnect]:
    yield from real_connect(tmp_path_factory.mktemp("kafka"), workers=3, max_delay_ms=MAX_DELAY_MS)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    assert isinstance(left.value.code, int)
    return left.value.code


def logs(kafka: RealConnect) -> list[str]:
    return [str(kafka.directory / f"{name}.out") for name in sorted(kafka.urls)]


def leader(kafka: RealConnect) -> str:
    completed = [
        line.message
        for log in worker_logs([Path(log) for log in logs(kafka)])
        for line in log.lines
        if isinstance(line.message, Completed)
    ]
    return max(completed, key=lambda each: each.generation).message.leader.partition("-")[0]


def findings(kafka: RealConnect, names: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    run("connect", "status", *(word for name in names for word in ("--url", kafka.urls[name])), "--json")
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    # The last state of a job of an ended worker may be RUNNING.
    return [each for each in found if each["kind"] in ("unassigned", "stale")]


def test_a_departed_workers_jobs_are_explained_from_status_to_history(
    kafka: RealConnect, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {"connector.class": "FileStreamSink", "tasks.max": "6", "topics": "t", "file": "/dev/null"}
    kafka.put("files", config)
    until(lambda: kafka.states("files", "w1") == ["RUNNING"] * 7, "the tasks")
    assert findings(kafka, ["w1", "w2", "w3"], capsys) == []

    gone = next(name for name in ("w3", "w2") if name != leader(kafka))
    left = [name for name in ("w1", "w2", "w3") if name != gone]
    kafka.stop(gone)
    found: list[dict[str, Any]] = []

    def waits() -> bool:
        found[:] = findings(kafka, left, capsys)
        return bool(found)

    until(waits, "the finding")
    assert {each["worker"] for each in found} == {kafka.urls[gone].removeprefix("http://")}
    jobs = {job for each in found for job in each["jobs"]}

    delay = f"scheduled.rebalance.max.delay.ms={MAX_DELAY_MS}"
    code = run("connect", "status", "--url", kafka.urls[left[0]], "--url", kafka.urls[left[1]], "--watch", "--every",
               "0.5", "-c", delay, "--fail-on", "unassigned,stale")  # fmt: skip
    assert code == 0
    assert "it was seen without a worker for" in capsys.readouterr().err

    assert run("history", *logs(kafka), "--json") == 0
    (group,) = json.loads(capsys.readouterr().out)["histories"]
    begun = [each for each in group["events"] if each["type"] == "delay_begun"]
    ended = [each for each in group["events"] if each["type"] == "delay_ended"]
    assert begun[-1]["delay_ms"] == MAX_DELAY_MS
    assert jobs == set(begun[-1]["jobs"])
    assert ended[-1]["jobs"] == begun[-1]["jobs"]
    assert ended[-1]["waited_ms"] >= MAX_DELAY_MS - 1_000
