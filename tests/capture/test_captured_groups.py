"""Logs of real groups: each decision is found, agrees with other sources, and can be reproduced."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from assignment_api.java import iteration_order, task_id_hash
from assignment_api.plugins import discover
from assignment_api.streams import TaskId
from assignor_lab.groups.streams.assignor_calls import invoke
from assignor_lab.scenarios import Place, Scenario, placement, scenario_from_document
from tests.capture.captured_logs import DECISIONS, GOLDEN, decisions, documents

REGISTRY = discover()
HISTORIES = ("tagged", "plain-ha", "warm", "orders-2")


def golden(name: str) -> list[dict[str, Any]]:
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def scenarios(application: str) -> list[Scenario]:
    return [scenario_from_document(document, Place(application, 1)) for document in documents(application)]


def answered(assignor: str, scenario: Scenario) -> Any:
    # With the release that the log shows.
    outcome = invoke(REGISTRY.task_assignor(assignor), scenario.application, scenario.config)
    assert outcome.answer is not None, outcome.failure
    return placement(scenario, outcome.answer)


def equal_to_kafka(assignor: str, application: str) -> list[int]:
    return [
        scenario.source["generation"]
        for scenario in scenarios(application)
        if scenario.source and scenario.observed
        if answered(assignor, scenario) == scenario.observed["assignment"]
    ]


@pytest.mark.parametrize("application", DECISIONS)
def test_every_decision_is_imported_once_in_the_order_of_generations(application: str) -> None:
    generations = [document["source"]["generation"] for document in documents(application)]

    assert generations == list(range(1, DECISIONS[application] + 1))


@pytest.mark.parametrize("application", ["tagged", "plain-ha"])
def test_high_availability_gives_what_kafka_decided(application: str) -> None:
    assert len(equal_to_kafka("high_availability", application)) == DECISIONS[application]


def test_sticky_gives_what_kafka_decided() -> None:
    assert len(equal_to_kafka("sticky", "plain")) == DECISIONS["plain"]


def test_kafkas_sticky_never_asked_for_a_follow_up_rebalance() -> None:
    assert [document["observed"]["followup"] for document in documents("plain")] == [False] * 6


def test_without_racks_a_rack_aware_group_is_exact_where_racks_do_not_matter() -> None:
    assert equal_to_kafka("high_availability", "warm") == [1, 2, 3, 4]


@pytest.mark.slow
@pytest.mark.parametrize("application", ["warm", "orders-2"])
def test_a_difference_of_a_rack_aware_group_is_explained_by_unknown_racks(application: str) -> None:
    for document in documents(application):
        assert any(sentence.startswith("racks unknown: ") for sentence in document["assumptions"])


@pytest.mark.parametrize("application", ["tagged", "plain-ha", "plain"])
def test_a_group_without_racks_does_not_say_that_racks_are_missing(application: str) -> None:
    for document in documents(application):
        assert not any("racks unknown" in sentence for sentence in document["assumptions"])


@pytest.mark.slow
@pytest.mark.parametrize("application", ["warm", "orders-2"])
def test_stateful_actives_before_optimization_are_those_of_high_availability_without_lags(application: str) -> None:
    for decision, document in zip(decisions(application), documents(application), strict=True):
        assert decision.before_optimization
        document["config"] |= {"num.standby.replicas": 0, "rack.aware.assignment.strategy": "none"}
        for client in document["clients"]:
            client["lags"] = dict.fromkeys(client["lags"], 0)
        computed = answered("high_availability", scenario_from_document(document, Place(application, 1)))
        stateful = {task["id"] for task in document["tasks"] if task["stateful"]}
        assert {
            str(process): sorted(str(task) for task in state.active if str(task) in stateful)
            for process, state in decision.before_optimization.items()
        } == {process: sorted(stateful.intersection(tasks["active"])) for process, tasks in computed.items()}


@pytest.mark.parametrize("application", HISTORIES)
def test_what_the_log_says_of_clients_is_what_the_brokers_knew(application: str) -> None:
    for imported, known in zip(documents(application), golden(f"{application}.scenarios"), strict=True):
        assert {client["process_id"]: {**client, "rack": None} for client in imported["clients"]} == {
            client["process_id"]: {**client, "rack": None} for client in known["clients"]
        }


@pytest.mark.parametrize("application", HISTORIES)
def test_tasks_and_configuration_are_those_of_the_group(application: str) -> None:
    for imported, known in zip(documents(application), golden(f"{application}.scenarios"), strict=True):
        assert imported["config"] == known["config"]
        assert {task["id"]: (task["stateful"], task["logged"]) for task in imported["tasks"]} == {
            task["id"]: (task["stateful"], task["logged"]) for task in known["tasks"]
        }


@pytest.mark.parametrize("application", HISTORIES)
def test_what_was_observed_is_the_recorded_result_down_to_the_consumer(application: str) -> None:
    recorded = golden(f"{application}.high_availability.results")
    for imported, result in zip(documents(application), recorded, strict=True):
        assert imported["observed"] == {key: result[key] for key in ("assignment", "followup", "threads")}


@pytest.mark.parametrize("application", DECISIONS)
def test_all_messages_show_the_same_order_of_clients(application: str) -> None:
    for decision in decisions(application):
        assert decision.order_known
        assert decision.hosts is not None
        assert decision.consumer_tasks is not None
        assert list(decision.order) == list(decision.hosts) == list(decision.consumer_tasks)


@pytest.mark.parametrize("application", DECISIONS)
def test_tasks_in_the_order_of_the_scenario_fill_a_hash_set_to_the_order_that_the_log_shows(application: str) -> None:
    for decision, document in zip(decisions(application), documents(application), strict=True):
        assert decision.task_lists
        tasks = [TaskId.parse(task["id"]) for task in document["tasks"] if task["stateful"]]
        hashes = [task_id_hash(task.subtopology, task.partition, None) for task in tasks]
        assert iteration_order(tasks, hashes) == list(decision.task_lists.stateful)


def test_the_scenario_says_where_and_when_it_was() -> None:
    first = documents("tagged")[0]

    assert first["source"] == {
        "file": first["source"]["file"],
        "line": 29,
        "time_ms": 1_795_239_746_656,
        "group": "tagged-classic",
        "generation": 1,
        "done": first["source"]["done"],
    }
    assert {each["client"] for each in first["source"]["done"]} == {"i1", "i2", "i3"}
    assert first["source"]["file"].endswith("i3.log.gz")
    assert first["id"] == "tagged-classic-generation-1"


def test_without_a_configuration_kafkas_defaults_are_taken_and_named() -> None:
    document = documents("tagged", config_layers=())[0]

    assert document["config"]["acceptable.recovery.lag"] == 10_000
    assert document["config"]["num.standby.replicas"] == 1, "the DEBUG line says so"
    assert any("acceptable.recovery.lag=10000" in sentence for sentence in document["assumptions"])
    assert not any("num.standby.replicas" in sentence for sentence in document["assumptions"])
