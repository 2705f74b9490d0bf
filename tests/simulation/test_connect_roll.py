"""A rolling restart of three Connect workers costs as much as its leaders allow (Strimzi 9142, KAFKA-12495).

The leader's memory makes the delay: a stopped leader's jobs move at once, those of another worker wait. Any member can
be the next leader.
"""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from typer.testing import CliRunner

from assignment_api.plugins import discover
from assignor_lab.cli.app import build_app
from assignor_lab.scenarios import DocumentFormatError, Place, scenario_from_document
from assignor_lab.simulation.connect.formats.episodes import read_episode
from assignor_lab.simulation.connect.simulate import assignors_from, simulate

PUBLIC = Path("tests/data/public/connect-roll.json")
WORKERS = ("w1:8083", "w2:8083", "w3:8083")


def roll(max_delay_ms: int, **more: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(PUBLIC.read_text("utf-8"))
    document["initial"]["max_delay_ms"] = max_delay_ms
    return document | {"until_ms": 1_500_000} | more


def task_seconds(document: dict[str, Any], seed: int) -> float:
    episode = read_episode(scenario_from_document(document, Place("roll")))
    history = simulate(episode, assignors_from(discover()), seed, keep_log=False).history
    return sum(history.downtimes_ms.values()) / 1000


def test_a_roll_waits_for_the_delay_at_every_worker_that_does_not_lead() -> None:
    means = {}
    for delay in (300_000, 60_000, 0):
        costs = [task_seconds(roll(delay), seed) for seed in range(12)]
        means[delay] = mean(costs)
        if delay:
            assert len(set(map(round, costs))) > 2
    assert means[300_000] > 1_000 > means[60_000] > 600
    assert 140 < means[0] < 150


@pytest.mark.parametrize("order", list(permutations(WORKERS)))
def test_a_leader_first_is_cheaper_than_a_leader_last(order: tuple[str, ...]) -> None:
    document = roll(300_000)
    document["events"][0]["workers"] = list(order)
    first, last = (
        [task_seconds(document | {"leader": leader}, s) for s in range(4)] for leader in (order[0], order[2])
    )
    assert all(cost > 2_500 for cost in last)
    assert min(first) < 1_100


def test_a_leader_that_is_no_member_is_refused() -> None:
    with pytest.raises(DocumentFormatError, match="'w9' is no member of the group"):
        task_seconds(roll(0, leader="w9"), 0)


def test_a_captured_state_is_played_with_events_and_its_waiting_jobs_wait(tmp_path: Path) -> None:
    state = roll(300_000)["initial"]
    state["rounds"][0]["members"].pop()
    file = tmp_path / "state.jsonl"
    file.write_text(json.dumps(state) + "\n", "utf-8")
    crash = '{"at_ms": 10000, "type": "bounce", "worker": "w1:8083", "down_ms": 5000}'
    done = CliRunner().invoke(build_app(), ["connect", "simulate", str(file), "--event", crash, "--json"])
    assert done.exit_code == 0, done.output
    (played,) = json.loads(done.stdout)
    causes = [sentence for each in played["rebalances"] for sentence in each["because"]]
    assert "departed leaves" in causes
    assert played["rebalances"][1]["delay_ms"] > 290_000
    for event, fault in (
        ('{"at_ms": 1, "type": "crash", "worker": "w9"}', "there is no worker 'w9'"), ("[]", "expected an object"),
    ):  # fmt: skip
        done = CliRunner().invoke(build_app(), ["connect", "simulate", str(file), "--event", event])
        assert fault in str(done.exception) + done.output


def test_the_end_of_a_delay_is_a_cause_of_its_own() -> None:
    document = roll(60_000, leader="w1:8083")
    document["events"] = [{"at_ms": 10_000, "type": "stop", "worker": "w2:8083"}]
    episode = read_episode(scenario_from_document(document, Place("stop")))
    rounds = simulate(episode, assignors_from(discover()), keep_log=False).cluster.rounds
    assert [each.reasons[0].partition(": ")[2] for each in rounds[1:]] == ["", "the scheduled delay has ended"]
