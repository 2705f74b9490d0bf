"""Kafka's official classes, the recorded golden answers and our assignors agree with one another."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assignment_api.conformance import KINDS, Capabilities, Event, History, InProcessSubject
from assignment_api.releases import release_named
from assignor_lab.kafka.streams_group.releases import KAFKA_4_3
from builtin_assignors.group_sticky import GroupStickyTaskAssignor
from parity import reconciliations
from parity.comparison import ParityRun
from parity.official import OfficialKafka, OfficialKafkaSilentError

pytestmark = pytest.mark.services

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
#: Distance of the golden rows that are computed again.
STEP = 7


@pytest.fixture(scope="module")
def official() -> Iterator[OfficialKafka]:
    with OfficialKafka() as running:
        yield running


def lines(name: str) -> list[dict[str, Any]]:
    with gzip.open(GOLDEN / name, "rt", encoding="utf-8") as read:
        return [json.loads(line) for line in read]


RESULTS = sorted(
    f"{path.parent.name}/{path.name}"
    for folder in ("streams", "streams-group", "streams-group-4.4", "consumer")
    for path in (GOLDEN / folder).glob("*.results.jsonl.gz")
)
CONNECT = "connect/incremental"


@pytest.mark.parametrize("results", RESULTS)
def test_the_driver_gives_the_recorded_answers(results: str, official: OfficialKafka) -> None:
    folder, _, name = results.partition("/")
    scenarios = lines(f"{folder}/{name.split('.', maxsplit=1)[0]}.scenarios.jsonl.gz")
    pairs = list(zip(scenarios, lines(results), strict=True))[::STEP]
    wrong = [
        scenario["id"]
        for scenario, row in pairs
        if official.rows(scenario, [row["assignor"]], threads=row.get("threads") is not None) != [row]
    ]
    assert wrong == []


def test_the_driver_gives_the_recorded_answers_to_histories_of_connect(official: OfficialKafka) -> None:
    pairs = zip(
        lines(f"{CONNECT}.scenarios.jsonl.gz"),
        lines(f"{CONNECT}.incremental_cooperative.results.jsonl.gz"),
        strict=True,
    )
    wrong = [
        scenario["id"] for scenario, row in list(pairs)[::STEP] if official.rows(scenario, [row["assignor"]]) != [row]
    ]
    assert wrong == []


def test_each_release_answers_for_its_own_assignors(official: OfficialKafka) -> None:
    scenario = {"format": 1, "kind": "streams-group", "id": "nobody", "config": {}, "members": []}
    scenario["subtopologies"] = [{"id": "0", "tasks": 1, "stateful": False}]
    rows = official.rows(scenario, ["group_sticky_4_4", "group_sticky"])
    assert [row["assignor"] for row in rows] == ["group_sticky_4_4", "group_sticky"]
    assert [".api." in row["error"]["type"] for row in rows] == [True, False]


def test_targets_that_alternate_without_end_are_kafkas_own(official: OfficialKafka) -> None:
    """The history of the kit's known violation: eight tasks, two standbys, seven members, one joins."""
    kind = KINDS["streams-group"]
    restless = History("streams-group", ((8, 1),), (2, 3, 3, 1, 3, 3, 2), standbys=2, events=(Event("join", 1),))
    world = kind.world(restless, Capabilities())
    leader = InProcessSubject(
        "group_sticky", partial(GroupStickyTaskAssignor, release_named("4.3")), kind.answering
    ).leader()
    placements = []
    for number in range(8):
        if number == 1:
            world.happens(restless.events[0])
        state = world.state()
        answer = leader.ask(state, world.configs()).answer
        (row,) = official.rows(kind.documents([state], "restless")[0], ["group_sticky"])
        placements.append(kind.placement(state, answer))
        assert placements[-1] == {
            member: [
                sorted(
                    f"{subtopology}_{partition}" for subtopology, parts in target[role].items() for partition in parts
                )
                for role in ("active", "standby", "warmup")
            ]
            for member, target in row["members"].items()
        }
        world.carry_out(state, answer)
    assert placements[-3] == placements[-1] != placements[-2]


def test_random_scenarios_are_answered_as_kafka_answers_them(official: OfficialKafka, tmp_path: Path) -> None:
    comparison = ParityRun(official, tmp_path / "differences")
    for _ in comparison.run(seed=20_261_121, first=0, count=400):
        pass
    assert comparison.different == {}
    assert sum(comparison.rows.values()) > 1_000


def test_after_a_search_without_end_another_jvm_answers(official: OfficialKafka) -> None:
    # Partitions in two other racks cost the lowest integer, which is its own negative.
    endless, row = lines("edge/cost-overflow.scenarios.jsonl.gz")[1], lines("edge/cost-overflow.results.jsonl.gz")[1]
    lowest = {**endless, "config": {**endless["config"], "rack.aware.assignment.traffic_cost": 2**30}}
    lowest["config"]["rack.aware.assignment.non_overlap_cost"] = 0
    with pytest.raises(OfficialKafkaSilentError):
        official.rows(lowest, ["high_availability"], patience_s=2)
    assert official.rows(endless, ["high_availability"], patience_s=60) == [row]


def test_random_groups_are_answered_as_both_releases_answer_them(official: OfficialKafka, tmp_path: Path) -> None:
    comparison = ParityRun(official, tmp_path / "differences")
    for _ in comparison.run(seed=20_261_122, first=0, count=300, kinds=["streams-group"]):
        pass
    assert comparison.different == {}
    assert comparison.rows == {"group_sticky": 300, "group_sticky_4_4": 300}


def test_random_members_are_brought_nearer_to_their_targets_as_both_releases_do_it(
    official: OfficialKafka, tmp_path: Path
) -> None:
    comparison = ParityRun(official, tmp_path / "differences")
    for _ in comparison.run(seed=20_261_123, first=0, count=3_000, kinds=["streams-reconciliation"]):
        pass
    assert comparison.different == {}
    assert comparison.refused == {}
    assert comparison.rows == {"reconciliation": 3_000, "reconciliation_4_4": 3_000}


def test_each_release_brings_members_nearer_by_its_own_rules(
    official: OfficialKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(reconciliations._RELEASES, "reconciliation_4_4", KAFKA_4_3)
    comparison = ParityRun(official, tmp_path / "differences")
    for _ in comparison.run(seed=20_261_123, first=0, count=300, kinds=["streams-reconciliation"]):
        pass
    assert set(comparison.different) == {"reconciliation_4_4"}
