"""Kafka's recorded answers to histories of Connect groups."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from assignment_api.connect import MAX_DELAY_KEY, ConnectAssignor, ConnectProtocol
from assignor_lab.scenarios import Scenario, connect_result_row, read_scenarios
from builtin_assignors.connect_eager import EagerAssignor
from builtin_assignors.connect_incremental import IncrementalCooperativeAssignor
from builtin_assignors.connect_static import StaticConnectAssignor
from tests.builtin_assignors.golden import DATA, documents

GOLDEN = DATA / "golden" / "connect"
SCALE = DATA / "scale" / "connect"

Make = type[ConnectAssignor]


def row(scenario: Scenario, name: str, make: Make, protocol: ConnectProtocol | None = None) -> dict[str, Any]:
    assignor = make()
    assignor.configure({MAX_DELAY_KEY: scenario.connect_history.max_delay_ms})
    rebalances = scenario.connect_history.rebalances(protocol)
    return connect_result_row(scenario, name, [assignor.assign(rebalance) for _, rebalance in rebalances])


def differences(
    name: str, assignor: str, make: Make, protocol: ConnectProtocol | None = None
) -> Iterator[tuple[str, int]]:
    """Id of the history and number of the round, for each round whose answer is not Kafka's."""
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
