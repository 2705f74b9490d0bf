"""The families of the streams protocol: reproducible, common events for all assignors, targets from the answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from assignment_api.group import GroupAssignment, GroupSpec, MemberAssignment, TopologyDescriber
from assignment_api.java import string_hash
from assignment_api.plugins.entries import ScenarioFamily
from assignor_lab.groups.streams_group.faults import group_findings
from assignor_lab.scenarios import Place, canonical_line, scenario_from_line
from assignor_lab.scenarios.families import STREAMS_GROUP_FAMILIES
from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.streams_group_traps import GROUP_TRAPS
from assignor_lab.scenarios.families.streams_history import HistoryOrderError
from builtin_assignors.group_sticky import GroupStickyTaskAssignor
from tests.scenarios.group_consistency import contradictions

FAMILIES = {family.name: family for family in STREAMS_GROUP_FAMILIES}
every_family = pytest.mark.parametrize("family", STREAMS_GROUP_FAMILIES, ids=lambda family: family.name)
SEEDS = range(6)

Answering = Callable[[int, GroupSpec, TopologyDescriber], GroupAssignment | None]


def sticky(_number: int, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
    return GroupStickyTaskAssignor().assign(group, topology)


def in_turn(number: int, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
    """All tasks to the members in turn, beginning with another one in each round; a warm-up of each on the next one."""
    members = list(group.members)
    active: dict[str, dict[str, list[int]]] = {member: {} for member in members}
    warmup: dict[str, dict[str, list[int]]] = {member: {} for member in members}
    turn = number
    for key in topology.subtopologies():
        for partition in range(topology.max_num_input_partitions(key)):
            active[members[turn % len(members)]].setdefault(key, []).append(partition)
            if topology.is_stateful(key) and len(members) > 1:
                warmup[members[(turn + 1) % len(members)]].setdefault(key, []).append(partition)
            turn += 1
    return GroupAssignment({member: MemberAssignment(active[member], {}, warmup[member]) for member in members})


def sometimes_failing(number: int, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment | None:
    return None if number % 2 else in_turn(number, group, topology)


@cache
def documents(family: ScenarioFamily, seed: int, answering: Answering = sticky) -> list[Mapping[str, Any]]:
    history, previous, found = family.history(seed), None, []
    for number in range(family.rounds):
        document = history.round(number, previous)
        scenario = scenario_from_line(canonical_line(document), Place(family.name))
        assert scenario.document == document
        previous = answering(number, scenario.group_spec, scenario.topology)
        found.append(document)
    return found


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    """The tests share played histories; those of other files need its memory."""
    yield
    documents.cache_clear()


def histories(name: str, seeds: range = SEEDS) -> list[list[Mapping[str, Any]]]:
    return [documents(FAMILIES[name], seed) for seed in seeds]


def ids(document: Mapping[str, Any]) -> set[str]:
    return {member["id"] for member in document["members"]}


def processes(document: Mapping[str, Any]) -> set[str]:
    return {member["process_id"] for member in document["members"]}


# --- common properties ------------------------------------------------------------------------------


@pytest.mark.slow
@every_family
@pytest.mark.parametrize("answering", [sticky, in_turn, sometimes_failing], ids=lambda each: each.__name__)
def test_rounds_could_be_those_of_one_group(family: ScenarioFamily, answering: Answering) -> None:
    for seed in SEEDS:
        assert contradictions(documents(family, seed, answering)) == []


@pytest.mark.slow
@every_family
def test_every_assignor_meets_the_same_events(family: ScenarioFamily) -> None:
    own = ("active", "standby", "warmup", "task_offsets", "task_end_offsets")

    def events(document: Mapping[str, Any]) -> Any:
        members = [{key: value for key, value in member.items() if key not in own} for member in document["members"]]
        return document["id"], document["config"], document["subtopologies"], members

    for seed in range(4):
        first, second = documents(family, seed), documents(family, seed, sometimes_failing)
        assert [events(document) for document in first] == [events(document) for document in second]


@pytest.mark.slow
@every_family
def test_who_stayed_has_the_target_that_it_was_given(family: ScenarioFamily) -> None:
    for seed in SEEDS:
        given: list[GroupAssignment] = []

        def noting(number: int, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
            given.append(in_turn(number, group, topology))  # noqa: B023 - used up before the next seed
            return given[-1]  # noqa: B023

        rounds = documents(family, seed, noting)
        for answer, before, after in zip(given, rounds, rounds[1:], strict=False):
            for member in after["members"]:
                if member["id"] in ids(before):
                    target = answer.members[member["id"]]
                    assert member["active"] == {key: list(tasks) for key, tasks in target.active_tasks.items()}
                    assert member["warmup"] == {key: list(tasks) for key, tasks in target.warmup_tasks.items()}


@every_family
def test_after_a_failure_everybody_keeps_what_it_had(family: ScenarioFamily) -> None:
    def once(number: int, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment | None:
        return None if number else in_turn(number, group, topology)

    rounds = documents(family, 3, once)
    for before, after in pairwise(rounds[1:]):
        earlier = {member["id"]: member for member in before["members"]}
        for member in after["members"]:
            if member["id"] in earlier:
                assert member["active"] == earlier[member["id"]]["active"]


@pytest.mark.slow
@every_family
def test_the_sticky_assignor_of_the_brokers_makes_no_fault(family: ScenarioFamily) -> None:
    for seed in SEEDS:
        for document in documents(family, seed):
            scenario = scenario_from_line(canonical_line(document), Place(family.name))
            group, topology = scenario.group_spec, scenario.topology
            assert group_findings(group, topology, sticky(0, group, topology)) == ()


# A change here makes all published figures irreproducible: mention it in CHANGELOG.md.
DIGESTS: dict[str, str] = {
    "group_histories": "1a1ef9c3758f0536",
    "group_steady_state": "f6736c838a9bf967",
    "group_scale_out": "5a3c582df01a2c8d",
    "group_scale_in": "6099f90de36c445a",
    "group_rolling_restart": "5b74b5ed59125673",
    "group_full_restart": "d69e4ffd4a6f0255",
    "group_zone_loss": "7e700c285b70ab1c",
    "group_growing_topics": "9e7287cdaf1a3f3e",
    "group_mixed_processes": "a5800fc9bab93730",
    "group_client_tags": "c3637c0d6429f743",
    "group_adversarial": "01ac2808dc5017a9",
}


def digest(family: ScenarioFamily) -> str:
    state = hashlib.sha256()
    for seed in range(6):
        for document in documents(family, seed, in_turn):
            state.update(canonical_line(document))
    return state.hexdigest()[:16]


@pytest.mark.slow
def test_a_seed_gives_the_same_bytes_for_ever() -> None:
    assert {name: digest(family) for name, family in FAMILIES.items()} == DIGESTS


def test_rounds_are_asked_for_in_order() -> None:
    with pytest.raises(HistoryOrderError, match="round 0 of 8 is next"):
        FAMILIES["group_histories"].history(0).round(1, None)


@pytest.mark.slow
def test_a_family_tells_the_size_of_a_history_without_making_it() -> None:
    family = FAMILIES["group_steady_state"]
    assert family.size is not None
    for seed in range(20):
        processes_there = len(processes(documents(family, seed)[0]))
        assert family.size(seed) == processes_there * (24 + 2 * processes_there)


# --- purpose of each family -------------------------------------------------------------------------


def test_in_the_steady_state_nobody_comes_or_goes() -> None:
    assert all(
        ids(before) == ids(after) for rounds in histories("group_steady_state") for before, after in pairwise(rounds)
    )


@pytest.mark.slow
def test_scaling_out_adds_instances_and_scaling_in_takes_some_away() -> None:
    for rounds in histories("group_scale_out"):
        assert all(ids(before) <= ids(after) for before, after in pairwise(rounds))
        assert len(processes(rounds[0])) < len(processes(rounds[-1])) <= 2 * len(processes(rounds[0]))
    for rounds in histories("group_scale_in"):
        first, last = len(processes(rounds[0])), len(processes(rounds[-1]))
        assert first / 2 <= last < first or first == 1


@pytest.mark.slow
def test_a_rolling_restart_ends_with_everybody_started_anew() -> None:
    for rounds in histories("group_rolling_restart"):
        assert not ids(rounds[0]) & ids(rounds[-1])
        assert len(rounds[0]["members"]) == len(rounds[-1]["members"])


@pytest.mark.slow
def test_a_static_member_that_is_back_at_once_finds_its_target() -> None:
    inherited = 0
    for rounds in histories("group_rolling_restart", range(30)):
        for before, after in pairwise(rounds):
            instances = {member["instance_id"] for member in before["members"]} - {None}
            for member in after["members"]:
                if member["id"] not in ids(before) and member["instance_id"] in instances:
                    inherited += bool(member["active"])
    assert inherited > 20


@pytest.mark.slow
def test_half_of_the_rolling_restarts_are_those_of_static_members() -> None:
    static = [
        rounds[0]["members"][0]["instance_id"] is not None for rounds in histories("group_rolling_restart", range(60))
    ]
    assert 20 < sum(static) < 40


@pytest.mark.slow
def test_after_a_full_restart_there_is_state_on_disks_and_no_target() -> None:
    with_state = 0
    for rounds in histories("group_full_restart"):
        again = rounds[2]
        assert not ids(again) & ids(rounds[1])
        assert not any(member[role] for member in again["members"] for role in ("active", "standby", "warmup"))
        with_state += any(member["task_offsets"] for member in again["members"])
    assert with_state > len(SEEDS) / 2


@pytest.mark.slow
def test_a_lost_zone_takes_all_its_instances_and_they_return() -> None:
    for rounds in histories("group_zone_loss"):
        racks = [{member["rack"] for member in document["members"]} for document in rounds]
        assert len(racks[1] - racks[2]) == (1 if len(racks[1]) > 1 else 0)
        assert len(rounds[-1]["members"]) == len(rounds[1]["members"])


@pytest.mark.slow
def test_topics_grow_where_there_is_no_state() -> None:
    for rounds in histories("group_growing_topics"):
        first, last = ({each["id"]: each for each in document["subtopologies"]} for document in (rounds[0], rounds[-1]))
        grown = [key for key, each in first.items() if last[key]["tasks"] > each["tasks"]]
        assert grown
        assert not any(first[key]["stateful"] for key in grown)
        assert first.keys() == last.keys()


@pytest.mark.slow
def test_processes_have_different_numbers_of_members() -> None:
    sizes = []
    for rounds in histories("group_mixed_processes"):
        members = [member["process_id"] for member in rounds[0]["members"]]
        sizes.append(len({members.count(process) for process in members}))
    assert max(sizes) > 3
    assert sum(size > 1 for size in sizes) > len(sizes) / 2


@pytest.mark.slow
def test_tags_are_there_with_gaps() -> None:
    rounds = [documents[0] for documents in histories("group_client_tags", range(40))]
    tags = [member["tags"] for document in rounds for member in document["members"]]
    assert all(tags)
    assert any(len(of_member) == 1 for of_member in tags)


def test_what_a_member_reports_is_on_the_disk_of_its_process() -> None:
    # After round 1 everything is restored: a process reports at least the state of its members' tasks.
    for rounds in histories("group_scale_out"):
        stateful = {each["id"] for each in rounds[2]["subtopologies"] if each["stateful"]}
        for member in rounds[2]["members"]:
            for key, partitions in member["active"].items():
                if key in stateful:
                    for partition in partitions:
                        offset = member["task_offsets"][key][str(partition)]
                        assert offset == member["task_end_offsets"][key][str(partition)]


# --- traps ------------------------------------------------------------------------------------------


def trapped(name: str) -> list[Mapping[str, Any]]:
    """The first history of the adversarial family that draws the trap."""
    traps = tuple(GROUP_TRAPS)
    seed = next(seed for seed in range(500) if Draws("group_adversarial", seed, "group").pick(traps) == name)
    return documents(FAMILIES["group_adversarial"], seed)


@pytest.mark.parametrize("trap", GROUP_TRAPS)
def test_every_trap_is_drawn(trap: str) -> None:
    assert len(trapped(trap)) == FAMILIES["group_adversarial"].rounds


def test_ids_have_equal_hashes_in_that_trap() -> None:
    for document in trapped("equal_hashes"):
        for key in ("id", "process_id"):
            names = {member[key] for member in document["members"]}
            assert len({string_hash(name) for name in names if len(name) == 24}) <= 1
            assert len(names) > 1


def test_targets_name_tasks_that_are_gone_in_that_trap() -> None:
    document = trapped("forgotten_tasks")[2]
    sizes = {each["id"]: each["tasks"] for each in document["subtopologies"]}
    gone = [
        partition
        for member in document["members"]
        for key, partitions in member["active"].items()
        for partition in partitions
        if partition >= sizes.get(key, 0)
    ]
    assert gone


def test_sub_topologies_are_more_than_ten_in_that_trap() -> None:
    assert len(trapped("text_order")[0]["subtopologies"]) > 10
