"""A roll of static members under the streams protocol, by release of the broker (KIP-1071, KAFKA-20169)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app

PUBLIC = Path(__file__).parents[1] / "data" / "public"
STATEFUL, STATELESS = PUBLIC / "streams-static.jsonl", PUBLIC / "streams-stateless.jsonl"
STREAMS = "group.protocol=streams"


@pytest.fixture
def stateless_and_static(tmp_path: Path) -> Path:
    document, static = (json.loads(file.read_text("utf-8")) for file in (STATELESS, STATEFUL))
    for client, other in zip(document["clients"], static["clients"], strict=True):
        client["members"] = other["members"]
    made = tmp_path / "static.jsonl"
    made.write_text(json.dumps(document), "utf-8")
    return made


def planned(file: Path, *more: str) -> dict[str, Any]:
    done = CliRunner().invoke(build_app(), ["plan", str(file), "roll", "--plays", "6", "--json", *more])
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def rebalances(figures: dict[str, Any]) -> tuple[float, float]:
    return figures["total"]["rebalances"]["low"], figures["total"]["rebalances"]["high"]


def test_static_members_with_state_on_disk_roll_without_a_rebalance() -> None:
    document = planned(
        STATEFUL, "--variant", f"v44=group_sticky_4_4,{STREAMS}", "--variant", f"v43=group_sticky@4.3,{STREAMS}"
    )
    of_4_4, of_4_3 = document["variants"]["v44"], document["variants"]["v43"]
    assert rebalances(document) == rebalances(of_4_4) == (0, 0)
    assert of_4_4["total"]["task_seconds"]["median"] == pytest.approx(
        document["total"]["task_seconds"]["median"], rel=0.1
    )
    assert rebalances(of_4_3)[0] >= 3
    refused = [each for each in document["assumptions"] if "refuse group.instance.id" in each]
    assert [each.partition(":")[0] for each in refused] == ["v43"]


def test_the_protocol_of_the_options_counts_as_that_of_a_variant() -> None:
    alone = planned(STATEFUL, "--assignor", "group_sticky_4_4", "-c", STREAMS, "--no-variants")
    variant = planned(STATEFUL, "--variant", f"v44=group_sticky_4_4,{STREAMS}")["variants"]["v44"]
    assert alone["total"] == variant["total"]


def test_without_state_each_return_of_a_static_member_is_a_rebalance(stateless_and_static: Path) -> None:
    document = planned(stateless_and_static, "--assignor", "group_sticky_4_4", "-c", STREAMS, "--no-variants")
    assert rebalances(document) == (3, 3)
    assert any("KAFKA-20169" in each for each in document["assumptions"])
    assert "restoring" not in document["spent_on"]


def test_a_stateless_roll_waits_for_the_session_unless_members_leave() -> None:
    as_it_is = planned(STATELESS, "--no-variants")
    leaving = planned(STATELESS, "--no-variants", "--leave")
    assert 45 < as_it_is["total"]["worst_task_seconds"]["median"] < 46
    assert 3 < leaving["total"]["worst_task_seconds"]["median"] < 4
    assert {"session timeout", "starting"} <= set(as_it_is["spent_on"])
