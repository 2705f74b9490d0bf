"""States rebuilt from recorded bytes: our assignors' answers are exactly Kafka's messages to every member."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import discover
from assignor_lab.capture.recorded.matching import StaticRestart
from assignor_lab.capture.recorded.replay import leaders_assignor, replay
from assignor_lab.scenarios import Place, scenario_from_document
from tests.capture.captured_logs import GOLDEN
from tests.capture.recorded.groups import STABLE, recording, states
from tests.capture.topologies import ORDERS

APPLICATIONS = tuple(STABLE)


def golden_scenarios(application: str) -> dict[int, dict[str, Any]]:
    with gzip.open(GOLDEN / f"{application}.scenarios.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    return {int(document["id"].rpartition("-generation-")[2].split("-")[0]): document for document in documents}


def without_order(tasks: list[dict[str, Any]], *, racks: bool = True) -> dict[str, Any]:
    return {
        task["id"]: {
            **task,
            "stores": sorted(task["stores"]),
            "partitions": sorted(
                ({**partition, "racks": partition["racks"] if racks else None} for partition in task["partitions"]),
                key=lambda partition: partition["topic"],
            ),
        }
        for task in tasks
    }


def test_59_distinct_stable_states_were_recorded() -> None:
    assert {application: len(list(recording(application).stable())) for application in APPLICATIONS} == STABLE
    assert sum(STABLE.values()) == 59


@pytest.mark.slow
@pytest.mark.parametrize("application", APPLICATIONS)
def test_every_member_would_be_sent_the_bytes_that_kafka_sent(application: str) -> None:
    registry = discover()
    found, unusable = states(application)

    replays = [replay(state, leaders_assignor(state, registry)) for state in found]

    assert [str(difference) for replayed in replays for difference in replayed.differences] == []
    assert all(replayed.exact for replayed in replays)
    assert len(found) + len(unusable) == STABLE[application]


@pytest.mark.slow
def test_only_the_static_restart_of_plain_cannot_be_replayed() -> None:
    left_out = [(name, unusable.reason) for name in APPLICATIONS for unusable in states(name)[1]]

    assert [name for name, _ in left_out] == ["plain"]
    (reason,) = (reason for _, reason in left_out)
    assert isinstance(reason, StaticRestart)
    assert {(new[:5], old[:5]) for new, old in reason.replaced.items()} == {("p2-1-", "p2-1-")}


@pytest.mark.parametrize("application", ["warm", "orders-2", "tagged", "plain-ha"])
def test_a_rebuilt_state_is_the_golden_scenario_of_its_generation(application: str) -> None:
    golden = golden_scenarios(application)
    for state in states(application)[0]:
        expected = golden[state.seen.answer.generation or 0]
        assert state.document["config"] == expected["config"]
        # The golden scenarios of applications without racks omit the brokers' racks.
        racks = application in ("warm", "orders-2")
        assert without_order(state.document["tasks"], racks=racks) == without_order(expected["tasks"])
        assert clients_by_process(state.document, racks=racks) == clients_by_process(expected, racks=racks)


def clients_by_process(document: dict[str, Any], *, racks: bool) -> dict[str, Any]:
    """The clients, without the consumers' reports if the golden scenarios have them from the log.

    The log lists tasks of each partition that a consumer owned, even unreported ones.
    """
    left_out = () if racks else ("previous_by_consumer",)
    return {
        client["process_id"]: {key: value for key, value in client.items() if key not in left_out}
        for client in document["clients"]
    }


@pytest.mark.parametrize("application", APPLICATIONS)
def test_clients_come_in_the_order_in_which_the_leader_logged_its_map(application: str) -> None:
    for state in states(application)[0]:
        assert state.decision.order_known
        shown = tuple(str(process) for process in state.decision.order)
        assert tuple(client["process_id"] for client in state.document["clients"]) == shown


@pytest.mark.parametrize("application", APPLICATIONS)
def test_a_rebuilt_state_is_a_scenario_with_what_kafka_decided(application: str) -> None:
    for state in states(application)[0]:
        scenario = scenario_from_document(state.document, Place(state.seen.file, state.seen.line))
        assert scenario.observed is not None
        assert set(scenario.observed["threads"]) == {member.member_id for member in state.seen.answer.members}
        assert scenario.source is not None
        assert scenario.source["generation"] == state.decision.generation


def test_without_a_topology_the_inference_is_stated() -> None:
    (state, *_), _ = states("warm")

    assert any(
        "by their numbers of partitions: warm-classic-cities-changelog to 1, warm-classic-counts-changelog to 0"
        in sentence
        for sentence in state.document["assumptions"]
    )


@pytest.mark.slow
def test_a_topology_takes_the_place_of_the_inference(tmp_path: Path) -> None:
    topology = tmp_path / "topology.txt"
    topology.write_text(ORDERS)

    described, _ = states("orders-2", topology)

    inferred, _ = states("orders-2")
    assert [without_order(state.document["tasks"]) for state in described] == [
        without_order(state.document["tasks"]) for state in inferred
    ]
    assert not any("numbers of partitions" in sentence for sentence in described[0].document["assumptions"])
    assert described[0].document["tasks"][-1]["stores"] in (["counts", "latest"], [], ["cities"])


def test_another_configuration_is_noticed() -> None:
    registry = discover()
    state = states("warm")[0][-1]
    changed = {**state.document, "config": {**state.document["config"], "num.standby.replicas": 0}}

    replayed = replay(type(state)(changed, state.seen, state.decision), leaders_assignor(state, registry))

    assert not replayed.exact
    assert {difference.field for difference in replayed.differences} >= {"standby_tasks", "standby_partitions_by_host"}
