"""Plans whose costs depend on the release: restarts of brokers (KAFKA-20778), and the move to the streams protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app

STATEFUL = Path(__file__).parents[1] / "data" / "public" / "streams-static.jsonl"


@pytest.fixture
def with_racks(tmp_path: Path) -> Path:
    document = json.loads(STATEFUL.read_text("utf-8"))
    for number, client in enumerate(document["clients"]):
        client["rack"] = f"rack-{number}"
    file = tmp_path / "racks.jsonl"
    file.write_text(json.dumps(document), "utf-8")
    return file


def planned(file: Path, *words: str) -> dict[str, Any]:
    done = CliRunner().invoke(build_app(), ["plan", str(file), *words, "--plays", "4", "--json"])
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def rebalances(figures: dict[str, Any]) -> tuple[float, float]:
    return figures["total"]["rebalances"]["low"], figures["total"]["rebalances"]["high"]


def test_each_broker_costs_two_rebalances_up_to_4_3_and_none_in_4_4(with_racks: Path) -> None:
    document = planned(with_racks, "broker-roll", "--release", "4.3", "--brokers", "2", "--down-seconds", "30")
    assert rebalances(document) == (4, 4)
    assert set(document["variants"]) == {"Kafka 4.4"}
    assert rebalances(document["variants"]["Kafka 4.4"]) == (0, 0)
    assert [step["name"] for step in document["steps"]] == ["broker 1", "broker 2"]
    assert "A restart of 2 brokers" in document["sentence"]
    newest = planned(with_racks, "broker-roll")
    assert rebalances(newest) == (0, 0)
    assert rebalances(newest["variants"]["Kafka 4.3"]) == (6, 6)


@pytest.mark.parametrize(("words", "seconds"), [((), 60), (("--down-seconds", "0"), 0), (("--down-seconds", "1"), 1)])
def test_a_broker_is_down_for_the_given_time(with_racks: Path, words: tuple[str, ...], seconds: float) -> None:
    document = planned(with_racks, "broker-roll", "--brokers", "1", "--no-variants", *words)
    # Its replicas take the same time until they are in sync.
    assert round(document["total"]["duration_seconds"]["median"]) == seconds + 15


def test_without_racks_or_under_the_streams_protocol_a_broker_costs_nothing(with_racks: Path) -> None:
    without = planned(STATEFUL, "broker-roll", "--release", "4.3", "--no-variants")
    assert rebalances(without) == (0, 0)
    assert any("no instance has a client.rack" in each for each in without["assumptions"])
    streams = planned(with_racks, "broker-roll", "--release", "4.3", "-c", "group.protocol=streams", "--no-variants")
    assert rebalances(streams) == (0, 0)


@pytest.mark.parametrize(("release", "keeps"), [("4.3", False), ("4.4", True)])
def test_the_move_to_the_streams_protocol_lists_the_keys_that_keep_their_effect(release: str, *, keeps: bool) -> None:
    given = ("-c", "session.timeout.ms=20000", "-c", "processing.guarantee=exactly_once_v2", "--no-variants")
    plan = planned(STATEFUL, "upgrade-protocol", "--release", release, *given)["plan"]
    assert plan["release"] == release
    assert ("group.instance.id" in plan["keeps_effect"]) is keeps
    assert ("group.instance.id" in plan["without_effect"]) is not keeps
    assert "session.timeout.ms" in plan["without_effect"]
    assert "processing.guarantee" in plan["keeps_effect"]


@pytest.fixture
def kill_options(tmp_path: Path) -> tuple[str, ...]:
    tasks = [f"0_{number}" for number in range(6)]
    workload = tmp_path / "workload.json"
    workload.write_text(json.dumps({"tasks": {task: {"state_bytes": 400_000_000} for task in tasks}}), "utf-8")
    exactly_once = ("-c", "processing.guarantee=exactly_once_v2", "-c", "session.timeout.ms=10000")
    return (
        "kill",
        "app-00000000-0000-0000-0000-000000000001",
        "--back-after",
        "5",
        "--workload",
        str(workload),
        *exactly_once,
    )


def test_transactional_stores_are_offered_for_a_kill_where_the_release_has_them(kill_options: tuple[str, ...]) -> None:
    document = planned(STATEFUL, *kill_options)
    transactional = document["variants"]["transactional stores"]
    assert transactional["total"]["restored_bytes"]["low"] < document["total"]["restored_bytes"]["low"]
    assert "transactional stores" not in planned(STATEFUL, *kill_options, "--release", "4.3")["variants"]
    key = "enable.transactional.statestores=true"
    given = planned(STATEFUL, *kill_options, "--variant", f"t=high_availability,{key}")["variants"]["t"]
    assert given == transactional
    alone = planned(STATEFUL, *kill_options, "--no-variants", "-c", key)
    assert alone["total"]["task_seconds"] == given["total"]["task_seconds"]
