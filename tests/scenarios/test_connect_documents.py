from __future__ import annotations

import copy
from typing import Any

import pytest

from assignment_api.connect import ConfiguredJobs, ConnectorTaskId, ConnectProtocol, Jobs, StaticJobs
from assignor_lab.scenarios import DocumentFormatError, Place, Scenario, ScenarioKindError, scenario_from_document

DOCUMENT: dict[str, Any] = {
    "format": 1,
    "kind": "connect",
    "id": "c",
    "protocol": "static",
    "max_delay_ms": 30_000,
    "rounds": [
        {
            "time_ms": 1_000,
            "connectors": {"files": 2, "files-1": 1},
            "members": [
                {
                    "id": "w2",
                    "owned": {"connectors": ["files"], "tasks": ["files-1-0", "files-1"]},
                    "static": {"connectors": None, "tasks": ["files-0", "gone-3"]},
                },
                {
                    "id": "w1",
                    "owned": {"connectors": [], "tasks": []},
                    "static": {"connectors": None, "tasks": None},
                },
            ],
        }
    ],
}


def changed(*path: str | int, value: Any) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    at: Any = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return document


def read(document: Any) -> Scenario:
    return scenario_from_document(document, Place("c.jsonl", 1))


def test_a_document_becomes_values_of_the_spi() -> None:
    history = read(DOCUMENT).connect_history
    assert (history.protocol, history.max_delay_ms) == (ConnectProtocol.STATIC, 30_000)
    (only,) = history.rounds
    assert only.configured == ConfiguredJobs({"files": 2, "files-1": 1})
    first, second = only.workers
    assert (first.member_id, second.member_id) == ("w2", "w1")
    assert first.owned == Jobs(["files"], [ConnectorTaskId("files-1", 0), ConnectorTaskId("files", 1)])
    assert first.static == StaticJobs(None, (ConnectorTaskId("files", 0), ConnectorTaskId("gone", 3)))
    assert not second.static.is_set


def test_the_scenarios_configuration_has_kafkas_keys() -> None:
    assert read(DOCUMENT).config == {"connect.protocol": "static", "scheduled.rebalance.max.delay.ms": 30_000}


def test_generations_are_counted_and_gaps_are_seen() -> None:
    one = DOCUMENT["rounds"][0]
    document = {**DOCUMENT, "rounds": [one, one, {**one, "generation_gap": True}, {**one, "new_leader": True}]}
    rebalances = list(read(document).connect_history.rebalances())
    assert [rebalance.generation for _, rebalance in rebalances] == [0, 1, 2, 3]
    assert [rebalance.last_completed_generation for _, rebalance in rebalances] == [-1, 0, 0, 2]
    assert [each.new_leader for each, _ in rebalances] == [False, False, False, True]


def test_under_eager_nobody_reports_anything() -> None:
    ((_, rebalance),) = read(DOCUMENT).connect_history.rebalances(ConnectProtocol.EAGER)
    assert [len(worker.owned) for worker in rebalance.workers] == [0, 0]


def test_a_history_without_rounds_is_one() -> None:
    assert list(read({**DOCUMENT, "rounds": []}).connect_history.rebalances()) == []


def test_another_kind_has_no_history() -> None:
    group = {"format": 1, "kind": "streams-group", "id": "g", "config": {}, "subtopologies": [], "members": []}
    with pytest.raises(ScenarioKindError, match="no history of a Connect group"):
        _ = read(group).connect_history


_MEMBERS = ("rounds", 0, "members")


@pytest.mark.parametrize(
    ("document", "key", "reason"),
    [
        (changed("protocol", value="cooperative"), "protocol", "eager"),
        (changed("max_delay_ms", value=2**31), "max_delay_ms", "2147483647"),
        (changed("rounds", 0, "time_ms", value=-1), "rounds[0].time_ms", "whole number"),
        (changed("rounds", 0, "connectors", "files", value=None), "rounds[0].connectors.files", "null means unknown"),
        (changed("rounds", 0, "connectors", "files", value=2**31 - 1), "rounds[0].connectors.files", "1,000,000"),
        (changed(*_MEMBERS, value=[]), "rounds[0].members", "at least one"),
        (changed(*_MEMBERS, 1, "id", value="w2"), "rounds[0].members[1].id", "occurs twice"),
        (
            changed(*_MEMBERS, 0, "owned", "tasks", value=["files-0", "files"]),
            "rounds[0].members[0].owned.tasks[1]",
            'such as "files-0"',
        ),
        (
            changed(*_MEMBERS, 0, "owned", "tasks", value=["files-0", "files-0"]),
            "rounds[0].members[0].owned.tasks[1]",
            "files-0 occurs twice",
        ),
        (
            changed(*_MEMBERS, 0, "owned", "connectors", value=["a", "a"]),
            "rounds[0].members[0].owned.connectors[1]",
            "a occurs twice",
        ),
        (
            changed(*_MEMBERS, 0, "static", "tasks", value=["files"]),
            "rounds[0].members[0].static.tasks[0]",
            "is not the id of a task",
        ),
        (changed(*_MEMBERS, 0, "static", value={"connectors": None}), "rounds[0].members[0].static.tasks", "missing"),
        (changed(*_MEMBERS, 0, "static", "connectors", value="a"), "rounds[0].members[0].static.connectors", "a list"),
        (changed(*_MEMBERS, 0, "address", value="a"), "rounds[0].members[0].address", "unknown key"),
        (changed(*_MEMBERS, 0, "url", value=8083), "rounds[0].members[0].url", "a text"),
        (changed(*_MEMBERS, 0, "labels", value={"zone": 1}), "rounds[0].members[0].labels.zone", "a text"),
    ],
)
def test_what_is_not_in_the_format_is_refused_with_its_place(document: Any, key: str, reason: str) -> None:
    with pytest.raises(DocumentFormatError) as refused:
        read(document)
    assert refused.value.key == key
    assert reason in refused.value.reason
