"""Recorded plain consumer groups: each decision comes out again, and its past is a history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.capture.histories.past import read_past
from assignor_lab.cli.app import build_app
from assignor_lab.model.events import GroupEmptied, InstanceRestartedInSession
from assignor_lab.model.history import PARTITIONS, GroupHistory
from tests.capture.plain_consumers import recorded_groups, write_consumers


def shown(*arguments: str) -> Any:
    found = CliRunner().invoke(build_app(list(arguments)), list(arguments), catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def history(folder: Path, group: str) -> GroupHistory:
    past = read_past([str(write_consumers(folder, group))])
    (found,) = group_histories(past.scenarios, past.events)
    return found


@pytest.mark.parametrize("group", recorded_groups())
def test_each_recorded_decision_comes_out_again(group: str, tmp_path: Path) -> None:
    found = shown("history", str(write_consumers(tmp_path, group)), "--check", "--json")
    assert found["checked"]["differences"] == []
    assert found["checked"]["decisions"] >= 5


def test_a_roll_a_kill_a_late_poll_and_a_grown_topic_are_decisions_of_one_history(tmp_path: Path) -> None:
    found = history(tmp_path, "range")
    assert found.moves == PARTITIONS
    assert found.protocols == ("classic",)
    assert {each.name for each in found.instances} == {"range-c1", "range-c2", "range-c3"}
    sizes = [len(each.tasks or ()) for each in found.decisions]
    assert (sizes[0], sizes[-1]) == (18, 22)
    assert any(isinstance(each, GroupEmptied) for each in found.events) or found.decisions[-1].members == 1


def test_a_static_member_that_restarts_in_its_session_is_an_event_and_no_decision(tmp_path: Path) -> None:
    found = history(tmp_path, "static")
    restarts = [each.instance for each in found.events if isinstance(each, InstanceRestartedInSession)]
    assert restarts[:1] == ["static-c2"]
    assert len(found.decisions) < len(history(tmp_path / "range", "range").decisions)


def test_a_cooperative_decision_waits_for_the_release_of_moving_partitions(tmp_path: Path) -> None:
    found = history(tmp_path, "cooperative")
    waiting = [each for each in found.decisions if each.hands_over]
    assert waiting
    assert all("taken away first" in each.notes[0] for each in waiting)
