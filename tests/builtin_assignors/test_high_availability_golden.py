"""High availability gives Kafka 4.3.1's answers on random and on real states."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assignment_api import TaskId
from assignor_lab.scenarios import Place, Scenario, read_scenarios, scenario_from_document
from builtin_assignors.high_availability import HighAvailabilityTaskAssignor
from tests.builtin_assignors.golden import (
    DATA,
    GOLDEN,
    asks_for_followup,
    differences,
    documents,
    result_row,
    scale_differences,
    scenarios,
)

RECORDED = DATA / "golden" / "recorded"
SCALE_FILES = [
    "1000x1000-1thread-1standby",
    "1000x10-1000threads-1standby",
    "ha-6000x2-1thread-1standby",
    "ha-1000x100-1thread-50standbys",
    "small-10x200",
    "small-4x40",
    "rack-180x50-balance_subtopology",
    "rack-300x20-balance_subtopology",
    "rack-300x20-min_traffic",
    "rack-300x20-min_traffic-1standby",
    "rack-400x20-min_traffic",
    "rack-600x30-min_traffic",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["medium", "threads", "small"])
def test_every_golden_scenario_has_kafkas_answer(name: str) -> None:
    assert list(differences(name, "high_availability", HighAvailabilityTaskAssignor)) == []


@pytest.mark.slow
def test_a_missing_lag_is_refused_in_kafkas_words() -> None:
    refused = 0
    results = documents(GOLDEN / "small.high_availability.results.jsonl.gz")
    for scenario, expected in zip(scenarios(GOLDEN / "small.scenarios.jsonl.gz"), results, strict=True):
        error = expected["error"]
        if error is not None and error["type"] == "IllegalStateException":
            with pytest.raises(Exception, match=f"^{error['message']}$") as caught:
                HighAvailabilityTaskAssignor().assign(scenario.application)
            assert caught.value.java_type == error["type"]  # type: ignore[attr-defined]
            refused += 1
    assert refused > 5


@pytest.mark.slow
def test_the_references_vectors_have_kafkas_answers() -> None:
    results = documents(GOLDEN / "vectors.results.jsonl.gz")
    compared = 0
    for scenario, expected in zip(read_scenarios(GOLDEN / "vectors.scenarios.jsonl.gz"), results, strict=True):
        if expected["assignor"] == "high_availability":
            answer = result_row(scenario.id, "high_availability", scenario.application, HighAvailabilityTaskAssignor())
            assert answer == expected
            compared += 1
    assert compared == 11


@pytest.mark.slow
@pytest.mark.parametrize("name", SCALE_FILES)
def test_every_scale_scenario_has_the_digest_of_kafkas_answer(name: str) -> None:
    assert scale_differences(name, "high_availability", HighAvailabilityTaskAssignor) == []


@pytest.mark.parametrize(("app", "decisions"), [("tagged", 24), ("plain-ha", 14), ("warm", 6), ("orders-2", 48)])
def test_every_decision_of_a_real_group_comes_out_again(app: str, decisions: int) -> None:
    recorded = list(read_scenarios(RECORDED / f"{app}.scenarios.jsonl.gz"))
    results = documents(RECORDED / f"{app}.high_availability.results.jsonl.gz")
    assert len(recorded) == decisions
    for scenario, decided in zip(recorded, results, strict=True):
        answer = HighAvailabilityTaskAssignor().assign(scenario.application)
        placed = {
            str(client.process_id): {
                "active": [str(task) for task in client.active_tasks()],
                "standby": [str(task) for task in client.standby_tasks()],
            }
            for client in answer.assignments
        }
        assert (scenario.id, placed) == (decided["id"], decided["assignment"])
        assert asks_for_followup(answer) == decided["followup"]


@pytest.mark.parametrize(("app", "decisions"), [("warm", 6), ("orders-2", 48)])
def test_a_rack_aware_group_began_each_decision_with_the_ideal_placement(app: str, decisions: int) -> None:
    """Before the racks, a leader logs the placement without standbys and lags."""
    logged = documents(RECORDED / f"{app}.stateful-actives.jsonl.gz")
    recorded = list(read_scenarios(RECORDED / f"{app}.scenarios.jsonl.gz"))
    assert len(recorded) == decisions
    for scenario, expected in zip(recorded, logged, strict=True):
        application = _with_nobody_behind(scenario).application
        infos = application.task_infos()
        answer = HighAvailabilityTaskAssignor().assign(application)
        placed = {
            str(client.process_id): [str(task) for task in client.active_tasks() if infos[task].is_logged]
            for client in answer.assignments
        }
        assert (scenario.id, placed) == (expected["id"], expected["active"])


def _with_nobody_behind(scenario: Scenario) -> Scenario:
    document: dict[str, Any] = json.loads(json.dumps(scenario.document))
    document["config"].update({"rack.aware.assignment.strategy": "none", "num.standby.replicas": 0})
    for client in document["clients"]:
        client["lags"] = dict.fromkeys(client["lags"], 0)
    return scenario_from_document(document, Place("changed", 1))


def test_tasks_of_a_client_come_sorted_with_actives_first() -> None:
    for scenario in read_scenarios(RECORDED / "tagged.scenarios.jsonl.gz"):
        for client in HighAvailabilityTaskAssignor().assign(scenario.application).assignments:
            tasks = [task.id for task in client.tasks]
            assert tasks == [*sorted(client.active_tasks()), *sorted(client.standby_tasks())]
            assert all(isinstance(task, TaskId) for task in tasks)
