"""The families of Connect groups: reproducible, with common events for all assignors and states from the answers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from assignment_api.connect import Jobs
from assignment_api.plugins.entries import ScenarioFamily
from assignor_lab.scenarios import Place, Scenario, canonical_line, scenario_from_line
from assignor_lab.scenarios.families import CONNECT_FAMILIES
from assignor_lab.scenarios.families.streams_history import HistoryOrderError

pytestmark = pytest.mark.slow

FAMILIES = {family.name: family for family in CONNECT_FAMILIES}
every_family = pytest.mark.parametrize("family", CONNECT_FAMILIES, ids=lambda family: family.name)
SEEDS = range(30)


def in_turn(scenario: Scenario, number: int) -> dict[str, Jobs]:
    """All jobs to the members in turn, beginning with another one in each round."""
    latest = scenario.connect_history.rounds[-1]
    members = [worker.member_id for worker in latest.workers]
    held = {member: Jobs() for member in members}
    for index, name in enumerate(latest.configured.connectors(), number):
        member = members[index % len(members)]
        held[member] = held[member].plus(Jobs((name,)))
    for index, task in enumerate(latest.configured.tasks(), number):
        member = members[index % len(members)]
        held[member] = held[member].plus(Jobs((), (task,)))
    return held


def played(family: ScenarioFamily, seed: int, *, answering: bool = True) -> list[Mapping[str, Any]]:
    history, previous, found = family.history(seed), None, []
    for number in range(family.rounds):
        document = history.round(number, previous)
        scenario = scenario_from_line(canonical_line(document), Place(family.name))
        assert scenario.document == document
        previous = in_turn(scenario, number) if answering else None
        found.append(document)
    return found


@pytest.mark.slow
@every_family
def test_the_document_of_a_round_is_the_history_up_to_it(family: ScenarioFamily) -> None:
    for seed in SEEDS:
        documents = played(family, seed)
        for number, document in enumerate(documents):
            assert len(document["rounds"]) == number + 1
            assert documents[-1]["rounds"][: number + 1] == document["rounds"]


@pytest.mark.slow
@every_family
def test_who_stayed_owns_what_it_was_given(family: ScenarioFamily) -> None:
    for seed in SEEDS:
        previous: dict[str, Jobs] = {}
        for number, document in enumerate(played(family, seed)):
            for member in document["rounds"][-1]["members"]:
                own = previous.get(member["id"], Jobs())
                assert member["owned"]["connectors"] == list(own.connectors)
                assert member["owned"]["tasks"] == [str(task) for task in own.tasks]
            previous = in_turn(scenario_from_line(canonical_line(document), Place("again")), number)


@every_family
def test_after_a_failure_everybody_keeps_what_it_had(family: ScenarioFamily) -> None:
    for document in played(family, 3, answering=False):
        assert all(not member["owned"]["tasks"] for member in document["rounds"][-1]["members"])


@every_family
def test_every_assignor_meets_the_same_events(family: ScenarioFamily) -> None:
    def events(documents: list[Mapping[str, Any]]) -> Any:
        last = documents[-1]
        rounds = [{**each, "members": [member["id"] for member in each["members"]]} for each in last["rounds"]]
        return last["protocol"], last["max_delay_ms"], rounds

    for seed in range(5):
        assert events(played(family, seed)) == events(played(family, seed, answering=False))


@pytest.mark.slow
@every_family
def test_rounds_could_be_those_of_one_group(family: ScenarioFamily) -> None:
    for seed in SEEDS:
        rounds = played(family, seed)[-1]["rounds"]
        leader = rounds[0]["members"][0]["id"]
        for before, after in pairwise(rounds):
            members = [member["id"] for member in after["members"]]
            assert after["time_ms"] > before["time_ms"]
            assert members
            assert len(set(members)) == len(members)
            assert after["connectors"]
            workers = ["-".join(member.split("-")[:2]) for member in members]
            assert len(set(workers)) == len(workers)
            assert after.get("new_leader", False) == (leader not in members)
            leader = leader if leader in members else members[0]


def test_a_rolling_restart_takes_workers_away_and_brings_them_back() -> None:
    for seed in SEEDS:
        rounds = played(FAMILIES["connect_rolling_restart"], seed)[-1]["rounds"]
        sizes = [len(each["members"]) for each in rounds]
        assert sizes[3] == sizes[0]
        assert sizes[2] < sizes[0] or sizes[0] == 1


def test_connectors_change_and_members_do_not_where_only_the_configuration_does() -> None:
    changed = 0
    for seed in SEEDS:
        rounds = played(FAMILIES["connect_reconfiguration"], seed)[-1]["rounds"]
        assert len({tuple(member["id"] for member in each["members"]) for each in rounds}) == 1
        changed += rounds[0]["connectors"] != rounds[-1]["connectors"]
    assert changed > 20


# A change here makes all published figures irreproducible: mention it in CHANGELOG.md.
DIGESTS = {
    "connect_histories": "ba57c2ab4dbeaf2e",
    "connect_scale_out": "cda437fbc261aa0c",
    "connect_rolling_restart": "b081d5d9d5969330",
    "connect_reconfiguration": "7bed1c76f3e66212",
}


def test_a_seed_gives_the_same_bytes_for_ever() -> None:
    def digest(family: ScenarioFamily) -> str:
        lines = b"".join(canonical_line(played(family, seed)[-1]) for seed in range(6))
        return hashlib.sha256(lines).hexdigest()[:16]

    assert {name: digest(family) for name, family in FAMILIES.items()} == DIGESTS


def test_rounds_are_asked_for_in_order() -> None:
    with pytest.raises(HistoryOrderError, match="round 0 of 11 is next"):
        FAMILIES["connect_histories"].history(0).round(1, None)
