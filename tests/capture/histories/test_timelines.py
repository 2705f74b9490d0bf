"""Timelines of histories, and recorded decisions decided again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.capture.histories.history import read_histories
from assignor_lab.capture.histories.past import scenarios_of_past
from assignor_lab.capture.histories.timeline import timeline_of
from assignor_lab.groups.metrics.movement import stateful_actives_moved, stateless_actives_moved
from assignor_lab.groups.streams.answers import observed_assignment
from assignor_lab.groups.streams.placement import placement_of
from assignor_lab.scenarios import Scenario
from assignor_lab.verification.decisions import checked_decisions
from tests.capture.histories.flight_folders import streams_folder
from tests.capture.histories.pasts import CAPTURES, decisions_of, group_past_of

REGISTRY = discover()
CONFIG = config_sources(None, ())


def test_a_timeline_tells_who_came_and_went_and_what_moved() -> None:
    entries = timeline_of(group_past_of("tagged"))
    changes = {entry.generation: (entry.joined, entry.gone) for entry in entries if entry.joined or entry.gone}
    assert changes == {
        3: (("i4",), ()), 9: ((), ("i2",)), 15: (("i2",), ()), 22: ((), ("i4",)), 24: ((), ("i1", "i2")),
    }  # fmt: skip
    assert (entries[0].active_moved, entries[0].copies_made) == (0, 0)
    assert [entry.active_moved for entry in entries[2:5]] == [6, 0, 5]
    assert all(entry.missing is None for entry in entries)


def test_instances_whose_members_are_all_others_are_told() -> None:
    again = {entry.generation: entry.restarted for entry in timeline_of(group_past_of("orders-2")) if entry.restarted}
    assert list(again.values()) == [("i1",), ("i2",), ("i3",), ("i4",)]


def test_generations_that_are_missing_are_told_and_epochs_are_not() -> None:
    (history,) = group_histories([*decisions_of("tagged")[:3], *decisions_of("tagged")[6:8]])
    assert [entry.missing for entry in timeline_of(history)] == [None, None, None, (4, 6), None]
    streams = attrs.evolve(
        history, decisions=tuple(attrs.evolve(each, protocol="streams") for each in history.decisions)
    )
    assert all(entry.missing is None for entry in timeline_of(streams))


def test_every_decision_of_a_log_comes_out_as_recorded() -> None:
    checked = list(checked_decisions(decisions_of("tagged"), REGISTRY, CONFIG))
    assert len(checked) == 24
    assert [each.scenario.id for each in checked if each.difference is not None] == []


def test_the_assignor_that_the_log_names_decides_again() -> None:
    checked = list(checked_decisions(decisions_of("plain"), REGISTRY, CONFIG))
    assert {each.assignor for each in checked} == {"sticky"}
    assert [each.difference for each in checked] == [None] * 6
    others = list(checked_decisions(decisions_of("plain"), REGISTRY, CONFIG, "high_availability"))
    assert any(each.difference for each in others)


def test_what_is_otherwise_is_told_by_task_and_instance() -> None:
    first = decisions_of("tagged")[0]
    (changed,) = [_with_task_moved(first)]
    (checked,) = checked_decisions([changed], REGISTRY, CONFIG)
    assert checked.difference == "2_0 was on i1, and is on i3"


def test_targets_of_a_streams_group_come_out_of_the_brokers_assignor(tmp_path: Path) -> None:
    past = scenarios_of_past([str(streams_folder(tmp_path / "past", "orders-group-3"))])
    checked = list(checked_decisions(past, REGISTRY, CONFIG))
    assert {each.assignor for each in checked} == {"group_sticky"}
    # Some epochs were too short for the recording's requests; their members' tasks are older.
    assert sum(each.difference is None for each in checked) >= 16


def test_a_decision_that_gave_nothing_is_that_of_a_group_that_was_not_ready() -> None:
    first = decisions_of("tagged")[0]
    nothing: dict[str, Any] = {name: {"active": [], "standby": []} for name in first.document["observed"]["assignment"]}
    observed = {**first.document["observed"], "assignment": nothing}
    empty = attrs.evolve(first, document={**first.document, "observed": observed})
    (checked,) = checked_decisions([empty], REGISTRY, CONFIG)
    assert "was not ready" in (checked.difference or "")


@pytest.mark.slow
def test_a_past_may_lie_in_logs_recordings_and_files(tmp_path: Path) -> None:
    logs = [str(path) for path in sorted((CAPTURES / "warm").glob("*.log.gz"))]
    folder = streams_folder(tmp_path / "past", "orders-group-3")
    found = list(scenarios_of_past([*logs, str(folder)]))
    assert {history.group for history in read_histories(found)} == {"orders-group", "warm-classic"}


def _with_task_moved(scenario: Scenario) -> Scenario:
    observed = scenario.document["observed"]
    placed = {
        name: {kind: list(tasks) for kind, tasks in each.items()} for name, each in observed["assignment"].items()
    }
    owner = next(name for name, each in placed.items() if "2_0" in each["active"])
    other = next(each["process_id"] for each in scenario.document["clients"] if each["consumers"][0].startswith("i1-"))
    placed[owner]["active"].remove("2_0")
    placed[other]["active"].append("2_0")
    return attrs.evolve(scenario, document={**scenario.document, "observed": {**observed, "assignment": placed}})


@pytest.mark.parametrize("application", ["orders-2", "tagged", "plain-ha", "warm"])
def test_moved_tasks_are_those_that_the_metrics_count(application: str) -> None:
    moved = []
    for scenario in decisions_of(application):
        assert scenario.observed is not None
        placement = placement_of(scenario.application, observed_assignment(scenario.observed))
        moved.append(sum(each.figure(placement) or 0 for each in (stateful_actives_moved, stateless_actives_moved)))
    assert [entry.active_moved for entry in timeline_of(group_past_of(application))] == moved
