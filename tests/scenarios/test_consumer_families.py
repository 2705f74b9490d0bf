"""The families of consumer groups and share groups: reproducible, with common events and states from the answers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest

from assignment_api.consumer import PartitionAssignment
from assignment_api.plugins.entries import ScenarioFamily
from assignor_lab.scenarios import Place, Scenario, canonical_line, scenario_from_line
from assignor_lab.scenarios.families import CONSUMER_FAMILIES

every_family = pytest.mark.parametrize("family", CONSUMER_FAMILIES, ids=lambda family: family.name)


def in_turn(scenario: Scenario) -> PartitionAssignment:
    """All partitions to their subscribers in turn."""
    members = list(scenario.content.members)
    held: dict[str, dict[str, list[int]]] = {member: {} for member in members}
    for topic, known in scenario.content.topics.items():
        for number in range(known.partitions):
            held[members[number % len(members)]].setdefault(topic, []).append(number)
    return PartitionAssignment(held)


def played(family: ScenarioFamily, seed: int) -> list[Mapping[str, Any]]:
    history, previous, found = family.history(seed), None, []
    for number in range(family.rounds):
        document = history.round(number, previous)
        scenario = scenario_from_line(canonical_line(document), Place(family.name))
        previous = in_turn(scenario)
        found.append(document)
    return found


@every_family
def test_the_same_seed_gives_the_same_documents(family: ScenarioFamily) -> None:
    assert played(family, 3) == played(family, 3)
    assert played(family, 3) != played(family, 4)


@every_family
def test_members_report_what_the_answer_gave_them(family: ScenarioFamily) -> None:
    first, second = played(family, 1)[:2]
    held = in_turn(scenario_from_line(canonical_line(first), Place(family.name))).members
    field = "owned" if family.kind == "consumer" else "assigned"
    reported = {member["id"]: member[field] for member in second["members"]}
    assert reported == {
        member: {topic: list(numbers) for topic, numbers in held[member].items()} for member in reported
    }


def test_the_first_states_stay_the_same() -> None:
    digest = hashlib.sha256()
    for family in CONSUMER_FAMILIES:
        for document in played(family, 0):
            digest.update(canonical_line(document))
    assert digest.hexdigest()[:16] == "4dba48d8a58d5471"


def test_a_static_member_of_a_broker_takes_the_target_of_its_predecessor() -> None:
    family = next(each for each in CONSUMER_FAMILIES if each.name == "consumer_group_rolling_restart")
    for seed in range(20):
        documents = played(family, seed)
        before, after = documents[1], documents[2]
        known = {member["instance_id"]: member["id"] for member in before["members"] if member["instance_id"]}
        returned = [
            member
            for member in after["members"]
            if member["instance_id"] in known and known[member["instance_id"]] != member["id"]
        ]
        if returned:
            assert any(member["assigned"] for member in returned)
            return
    raise AssertionError("no group of twenty seeds has static members")
