from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.capture.edges.timelines import read_timeline
from assignor_lab.scenarios import Place, scenario_from_document
from calibration.accuracy.states import ImportedRecording, state_before
from calibration.accuracy.truth import recorded_steps
from calibration.episodes import import_episode
from calibration.episodes.instances import read_configs

CAPTURES = Path(__file__).parents[1] / "data" / "captures"


@cache
def recorded(folder: Path) -> ImportedRecording:
    timeline = folder / "timeline.json.gz"
    return ImportedRecording(
        read_timeline(timeline), import_episode(timeline, folder), read_configs(folder / "configs.jsonl")
    )


def before(folder: Path, phase: str | None = None) -> Any:
    """The state before a phase; default: before the first change."""
    found = recorded(folder)
    steps = recorded_steps(found.timeline)
    return state_before(found, steps[phase].begin_ms if phase else list(steps.values())[1].begin_ms)


def captured(run: str) -> Any:
    return json.loads((CAPTURES / "plans" / run / "capture.jsonl").read_text())


@pytest.mark.parametrize("run", ["P1", "P8", "P10"])
def test_members_and_tasks_of_a_classic_group_are_those_of_its_capture(run: str) -> None:
    ours, theirs = before(CAPTURES / "plans" / run), captured(run)
    assert {name: placed(tasks) for name, tasks in ours["observed"]["threads"].items()} == {
        name: placed(tasks) for name, tasks in theirs["observed"]["threads"].items()
    }
    assert ours["observed"]["followup"] == theirs["observed"]["followup"]
    by_consumers = {tuple(sorted(each["consumers"])): each for each in theirs["clients"]}
    for client in ours["clients"]:
        theirs_too = by_consumers[tuple(sorted(client["consumers"]))]
        assert sorted(client["previous_active"]) == sorted(theirs_too["previous_active"])
        assert sorted(client["previous_standby"]) == sorted(theirs_too["previous_standby"])
        for task, lag in client["lags"].items():
            assert lag == pytest.approx(theirs_too["lags"][task], rel=0.01)


def placed(tasks: Any) -> tuple[list[str], list[str]]:
    return sorted(tasks["active"]), sorted(tasks["standby"])


@pytest.mark.slow
def test_members_and_tasks_of_a_streams_group_are_those_of_its_capture() -> None:
    ours, theirs = before(CAPTURES / "plans" / "P5"), captured("P5")
    assert ours["subtopologies"] == theirs["subtopologies"]
    kinds = ("active", "standby", "warmup")
    assert {each["id"]: [each[kind] for kind in kinds] for each in ours["members"]} == {
        each["id"]: [each[kind] for kind in kinds] for each in theirs["members"]
    }


def test_a_copy_that_an_instance_no_longer_has_open_lacks_what_came_since() -> None:
    state = before(CAPTURES / "downtime" / "A", "kill -9 of d3")
    (client,) = (each for each in state["clients"] if each["consumers"][0].startswith("d1-"))
    # d1 gave 0_2 to d3 about 80 s before, at 20 records per second; it never had 0_1.
    assert 1_500 <= client["lags"]["0_2"] <= 1_800
    assert client["lags"]["0_1"] > 1_000_000


@pytest.mark.parametrize("run", "ABCDF")
def test_each_state_is_a_scenario(run: str) -> None:
    for phase in list(recorded_steps(recorded(CAPTURES / "downtime" / run).timeline))[1:]:
        document = before(CAPTURES / "downtime" / run, phase)
        assert scenario_from_document(document, Place(phase)).kind == document["kind"]
