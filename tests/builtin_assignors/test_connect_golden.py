from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from assignment_api.connect import MAX_DELAY_KEY, ConnectAssignment, ConnectAssignor, ConnectProtocol
from assignor_lab.scenarios import Scenario, connect_result_row, read_scenarios
from builtin_assignors.connect_eager import EagerAssignor
from builtin_assignors.connect_incremental import IncrementalCooperativeAssignor
from builtin_assignors.connect_static import StaticConnectAssignor
from tests.builtin_assignors.golden import DATA, documents

pytestmark = pytest.mark.slow

GOLDEN = DATA / "golden" / "connect"
SCALE = DATA / "scale" / "connect"

Make = type[ConnectAssignor]


def answers_to(scenario: Scenario, make: Make, protocol: ConnectProtocol | None = None) -> list[ConnectAssignment]:
    assignor = make()
    assignor.configure({MAX_DELAY_KEY: scenario.connect_history.max_delay_ms})
    return [assignor.assign(rebalance) for _, rebalance in scenario.connect_history.rebalances(protocol)]


def row(scenario: Scenario, name: str, make: Make, protocol: ConnectProtocol | None = None) -> dict[str, Any]:
    return connect_result_row(scenario, name, answers_to(scenario, make, protocol))


def differences(
    name: str, assignor: str, make: Make, protocol: ConnectProtocol | None = None
) -> Iterator[tuple[str, int]]:
    results = documents(GOLDEN / f"{name}.{assignor}.results.jsonl.gz")
    for scenario, expected in zip(read_scenarios(GOLDEN / f"{name}.scenarios.jsonl.gz"), results, strict=True):
        answered = row(scenario, assignor, make, protocol)["rounds"]
        for number, (ours, kafkas) in enumerate(zip(answered, expected["rounds"], strict=True)):
            if ours != kafkas:
                yield scenario.id, number


def number_of_rounds(name: str) -> int:
    return sum(len(document["rounds"]) for document in documents(GOLDEN / f"{name}.scenarios.jsonl.gz"))


def test_every_round_of_every_eager_history_has_kafkas_answer() -> None:
    assert number_of_rounds("eager") == 3_612
    assert list(differences("eager", "eager", EagerAssignor)) == []


def test_every_round_of_every_incremental_history_has_kafkas_answer() -> None:
    assert number_of_rounds("incremental") == 11_577
    assert list(differences("incremental", "incremental_cooperative", IncrementalCooperativeAssignor)) == []


def test_what_is_revoked_comes_in_the_order_in_which_kafka_tells_it() -> None:
    """Every fourth history, if a member had to stop several jobs of a kind; other golden data is sorted."""
    told: dict[str, list[Mapping[str, Any]]] = {}
    for each in documents(GOLDEN / "incremental.revoked-in-order.results.jsonl.gz"):
        told.setdefault(each["id"], []).append(each)
    compared = 0
    for scenario in read_scenarios(GOLDEN / "incremental.scenarios.jsonl.gz"):
        expected = told.get(scenario.id, [])
        answers = answers_to(scenario, IncrementalCooperativeAssignor) if expected else []
        for each in expected:
            revoked = answers[each["round"]].workers[each["member"]].revoked
            assert list(revoked.connectors) == each["connectors"], scenario.id
            assert [str(task) for task in revoked.tasks] == each["tasks"], scenario.id
            compared += 1
    assert compared == 518


def test_without_static_workers_the_static_assignor_gives_kafkas_answers() -> None:
    found = differences("incremental", "incremental_cooperative", StaticConnectAssignor, ConnectProtocol.STATIC)
    assert list(found) == []


@pytest.mark.parametrize(
    ("name", "assignor", "make"),
    [
        ("blog", "incremental_cooperative", IncrementalCooperativeAssignor),
        ("thousand", "incremental_cooperative", IncrementalCooperativeAssignor),
        ("blog-eager", "eager", EagerAssignor),
        ("thousand-eager", "eager", EagerAssignor),
    ],
)
def test_every_scale_history_has_the_digest_of_kafkas_answers(name: str, assignor: str, make: Make) -> None:
    digests: Mapping[str, str] = json.loads((SCALE / "digests.json").read_text())
    (scenario,) = read_scenarios(SCALE / f"{name}.scenarios.jsonl.gz")
    text = json.dumps(row(scenario, assignor, make), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == digests[f"{scenario.id}/{assignor}"]
