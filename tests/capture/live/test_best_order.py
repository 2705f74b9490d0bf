"""The how-to page *Restart in the best order*, with a running group of four instances."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.capture.live.real_streams import RealApplications
from tests.connect.real_kafka import START_S, until

pytestmark = pytest.mark.services

PARTITIONS = 8
NAMES = ("b1", "b2", "b3", "b4")
SETTINGS = {"num_stream_threads": 1, "num_standby_replicas": 1, "session_timeout_ms": 10_000}
PROPERTIES = "num.standby.replicas=1\nsession.timeout.ms=10000\nheartbeat.interval.ms=3000\n"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealApplications]:
    made = RealApplications(tmp_path_factory.mktemp("best"))
    try:
        made.start_broker()
        made.create_input(PARTITIONS)
        for name in NAMES:
            made.start_application(name, "orders", **SETTINGS)
        until(lambda: is_whole(made), "all instances")
        made.produce(400)
        yield made
    finally:
        made.close()


def run(*arguments: str) -> str:
    done = CliRunner().invoke(build_app(list(arguments)), list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def is_whole(cluster: RealApplications, members: int = len(NAMES)) -> bool:
    """True if the group is at rest with these members and all tasks."""
    listed = json.loads(run("groups", "--bootstrap-server", cluster.address, "--json"))
    return any(
        (each["id"], each["state"], each["members"], each["tasks"]) == ("orders", "Stable", members, 2 * PARTITIONS)
        for each in listed
    )


def rolled(cluster: RealApplications, batches: Sequence[Sequence[str]]) -> float:
    """The seconds of a roll: each step ends when its instances are back."""
    begun = time.monotonic()
    for batch in batches:
        for name in batch:
            cluster.processes[name].terminate()
        for name in batch:
            cluster.processes[name].wait(START_S)
            cluster.start_application(name, "orders", **SETTINGS)
        # A closed member stays until its session ends: the group looks whole until a new process joins.
        until(lambda: not is_whole(cluster), f"the rebalance of {', '.join(batch)}")
        until(lambda: is_whole(cluster), f"the step of {', '.join(batch)}")
    return time.monotonic() - begun


def test_the_best_order_takes_far_less_time_than_one_by_one(cluster: RealApplications, tmp_path: Path) -> None:
    # 1. Capture the group.
    state, config = tmp_path / "orders.jsonl", tmp_path / "application.properties"
    config.write_text(PROPERTIES)
    group = ("--bootstrap-server", cluster.address, "--group", "orders")
    run("capture", *group, "--config", str(config), "--wait", f"{START_S:g}", "--out", str(state))

    # 2. Search.
    words = ("plan", str(state), "roll", "--best", "--config", str(config), "--start-seconds", "2..8", "--plays", "10")
    best: dict[str, Any] = json.loads(run(*words, "--json"))
    batches = best["best"]["batches"]
    assert best["proof"]["is_proved"]
    assert sorted(map(len, batches)) == [2, 2]

    # 5. Restart.
    assert len(json.loads(run(*words, "--form", "kubernetes").partition("\n")[2])["steps"]) == 2
    in_order = rolled(cluster, batches)
    one_by_one = rolled(cluster, [[name] for name in NAMES])
    print(f"best {in_order:.1f} s, one by one {one_by_one:.1f} s; planned {best['total']['duration_seconds']}")
    assert in_order <= 0.65 * one_by_one
