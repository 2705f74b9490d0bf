"""Tasks of only some decisions, as events of a history's episode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assignor_lab.capture.histories.history import read_histories
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.capture.histories.logged_decisions import logged_decisions
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.formats.episodes import read_episode
from tests.capture.captured_logs import CAPTURES, documents

GONE = "2_0"


def without(value: Any, task: str) -> Any:
    if isinstance(value, dict):
        return {key: without(each, task) for key, each in value.items() if key != task}
    if isinstance(value, list):
        return [without(each, task) for each in value if each != task and not _is(each, task)]
    return value


def _is(each: Any, task: str) -> bool:
    return isinstance(each, dict) and task in (each.get("id"), each.get("task"))


def episode(changed: list[dict[str, Any]]) -> dict[str, Any]:
    scenarios = [scenario_from_document(each, Place("log", number)) for number, each in enumerate(changed, 1)]
    (history,) = read_histories(scenarios)
    made = history_episode(history)
    read_episode(scenario_from_document(made, Place("past")))
    return made


def tasks_of(made: dict[str, Any]) -> list[tuple[int, set[str]]]:
    return [(each["at_ms"], set(each["tasks"])) for each in made["events"] if each["type"] == "tasks"]


def test_a_task_that_disappears_and_comes_back_is_two_events() -> None:
    given = documents("tagged")
    every = {task["id"] for task in given[-1]["tasks"]}
    made = episode([without(each, GONE) if 10 <= place < 15 else each for place, each in enumerate(given)])
    times = [each["assignment_t_ms"] for each in made["recorded"]["generations"]]
    (gone_ms, fewer), (back_ms, more) = tasks_of(made)
    assert (fewer, more) == (every - {GONE}, every)
    assert times[9] < gone_ms <= times[10]
    assert times[14] < back_ms <= times[15]


def test_a_task_that_comes_later_is_not_there_at_the_beginning() -> None:
    given = documents("tagged")
    made = episode([without(each, GONE) if place < 12 else each for place, each in enumerate(given)])
    (at_ms, fewer), (later_ms, more) = tasks_of(made)
    assert (at_ms, more - fewer) == (0, {GONE})
    assert later_ms > 0


def test_a_history_whose_tasks_stay_has_no_such_event() -> None:
    assert tasks_of(episode(documents("plain"))) == []


@pytest.mark.parametrize("log", sorted((CAPTURES / "coordinator").glob("*.log.gz")), ids=lambda log: log.name)
def test_a_history_of_a_streams_group_can_be_read_with_its_events(log: Path) -> None:
    given = [each for each in logged_decisions([str(log)]) if "subtopologies" in each]
    made = episode(given)
    counts = [{each["id"]: each["tasks"] for each in document["subtopologies"]} for document in given]
    assert (tasks_of(made) == []) == all(each == counts[-1] for each in counts[1:])
