"""Plain consumer groups of a real broker, recorded while they live: each decision comes out again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.capture.live.recorded_consumers import GROUPS, RecordedConsumers
from tests.capture.plain_consumers import OWN_RULES

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = RecordedConsumers(tmp_path_factory.mktemp("consumers"), tmp_path_factory.mktemp("out") / "recording")
    try:
        made.live()
    finally:
        made.close()
    return made.out


def history(recording: Path, group: str) -> dict[str, Any]:
    arguments = ["history", str(recording / group), "--check", "--json", *OWN_RULES.get(group, ())]
    told = CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False)
    found: dict[str, Any] = json.loads(told.stdout)
    return found


@pytest.mark.parametrize("group", GROUPS)
def test_each_decision_of_a_live_group_comes_out_again(recording: Path, group: str) -> None:
    checked = history(recording, group)["checked"]
    # kafka-python's sticky goes through sets: its answer depends on the hash seed of the leader's process.
    assert group in OWN_RULES or checked["differences"] == []
    assert checked["decisions"] >= 4


def test_static_membership_saves_the_rebalances_of_restarts(recording: Path) -> None:
    dynamic, static = (history(recording, group)["histories"][0] for group in ("range", "static"))
    restarts = [each for each in static["events"] if each["type"] == "instance_restarted_in_session"]
    assert restarts
    assert len(static["decisions"]) < len(dynamic["decisions"])
