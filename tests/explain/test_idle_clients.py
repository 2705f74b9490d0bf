"""The reason why a client has nothing: there are fewer tasks than threads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.capture.public_cases import run, unpacked


def explained(file: Path, *options: str) -> dict[str, Any]:
    result = run("explain", str(file), "--calls", "0", "--json", *options)
    found: dict[str, Any] = json.loads(result.stdout)["idle"]
    return found


@pytest.fixture
def pattern(tmp_path: Path) -> Path:
    return unpacked("11-one-task-idle-instance", "s3-pattern.jsonl", tmp_path)


def test_many_small_topics_of_one_stream_make_one_task(pattern: Path) -> None:
    found = explained(pattern)

    assert found["clients"] == ["00000000-0000-0000-0000-000000000002"]
    assert found["limits"][0] == ("Sub-topology 0 has 1 task: the most partitions of one of its 10 source topics.")
    assert "one stream for each topic" in found["limits"][1]
    shown = " ".join(run("explain", str(pattern), "--calls", "0").stdout.split())
    assert "00000000-0000-0000-0000-000000000002 has no task: 1 task is too few for all threads." in shown


def test_tasks_that_no_client_ran_are_given_out(pattern: Path) -> None:
    shown = " ".join(run("explain", str(pattern), "--calls", "0").stdout.split())
    state = json.loads(pattern.read_text())
    ran = any(client["previous_active"] for client in state["clients"])
    assert ("each one stays with its client" in shown) == ran
    for client in state["clients"]:
        client |= {"previous_active": [], "previous_standby": []}
    pattern.write_text(json.dumps(state))
    shown = " ".join(run("explain", str(pattern), "--calls", "0").stdout.split())
    assert "moves no task: it gives out 1 task that no client here ran. Name one with --task." in shown


def test_unknown_topics_leave_the_number_of_tasks(pattern: Path) -> None:
    state = json.loads(pattern.read_text())
    state["tasks"][0]["partitions"] = None
    pattern.write_text(json.dumps(state))

    assert explained(pattern)["limits"][0] == (
        "Sub-topology 0 has 1 task: the most partitions of one of its source topics."
    )


def test_clients_with_work_have_no_reason(pattern: Path) -> None:
    state = json.loads(pattern.read_text())
    state["clients"].pop()
    pattern.write_text(json.dumps(state))

    assert explained(pattern) == {"clients": [], "limits": []}
