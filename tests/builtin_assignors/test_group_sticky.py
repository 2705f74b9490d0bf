from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given

from assignment_api.group import (
    AssignmentConfigs,
    GroupAssignment,
    GroupAssignorError,
    GroupMember,
    GroupSpec,
    InvalidGroupError,
    MemberAssignment,
    MemberAssignmentState,
    MemberMetadata,
    Subtopology,
    TaskId,
    TopologyDescriber,
    tasks_by_subtopology,
)
from assignment_api.releases import release_named
from assignor_lab.scenarios import Scenario, error_row, group_result_row, read_scenarios
from builtin_assignors.group_sticky import GroupStickyTaskAssignor
from tests.builtin_assignors.golden import DATA, digest, documents
from tests.builtin_assignors.groups import (
    Group,
    after,
    all_tasks,
    groups,
    held_by_process,
    holders,
    larger_group,
)
from tests.builtin_assignors.plain_group_sticky import as_result, plain_answer

ROOT = Path(__file__).parents[2]
ASSIGNORS: dict[str, Callable[[], GroupStickyTaskAssignor]] = {
    "group_sticky": partial(GroupStickyTaskAssignor, release_named("4.3")),
    "group_sticky_4_4": partial(GroupStickyTaskAssignor, release_named("4.4")),
}
FOLDERS = {"group_sticky": "streams-group", "group_sticky_4_4": "streams-group-4.4"}
both = pytest.mark.parametrize("name", ASSIGNORS)


def assign(group: GroupSpec, topology: TopologyDescriber, name: str = "group_sticky") -> GroupAssignment:
    return ASSIGNORS[name]().assign(group, topology)


def row(scenario: Scenario, name: str) -> dict[str, Any]:
    try:
        return group_result_row(scenario, name, assign(scenario.group_spec, scenario.topology, name))
    except GroupAssignorError as error:
        failed = error_row(scenario, name, type(error).__name__, error.java_type, str(error))
        # The recorded rows have Kafka's exception as their type.
        return {**failed, "error": {"type": failed["error"]["java_type"], "message": failed["error"]["message"]}}


# --- Kafka's answers --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file", "size"),
    [("group_sticky", "sticky", 800), ("group_sticky_4_4", "sticky", 800), ("group_sticky_4_4", "medium", 50)],
)
def test_every_golden_scenario_has_kafkas_answer(name: str, file: str, size: int) -> None:
    folder = DATA / "golden" / FOLDERS[name]
    scenarios = list(read_scenarios(folder / f"{file}.scenarios.jsonl.gz"))
    results = documents(folder / f"{file}.{name}.results.jsonl.gz")
    assert len(scenarios) == size
    assert [
        scenario.id for scenario, result in zip(scenarios, results, strict=True) if row(scenario, name) != result
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [("group_sticky", 16), ("group_sticky_4_4", 24)])
def test_every_scale_scenario_has_the_digest_of_kafkas_answer(name: str, size: int) -> None:
    folder = DATA / "scale" / FOLDERS[name]
    digests = json.loads((folder / "digests.json").read_text())
    scenarios = list(read_scenarios(folder / "jmh.scenarios.jsonl.gz"))
    assert len(scenarios) == size
    for scenario in scenarios:
        assert (scenario.id, digest(row(scenario, name))) == (scenario.id, digests[f"{scenario.id}/{name}"])


@pytest.mark.slow
def test_the_releases_answer_differently_where_kafka_does() -> None:
    scenarios = read_scenarios(DATA / "golden" / "streams-group-4.4" / "sticky.scenarios.jsonl.gz")
    rows = [(row(scenario, "group_sticky"), row(scenario, "group_sticky_4_4")) for scenario in scenarios]
    assert sum(older["members"] != newer["members"] for older, newer in rows) == 341


def is_played(drawn: Group, name: str) -> bool:
    """True if the answer is that of the plain version."""
    expected = plain_answer(*drawn, newer=name == "group_sticky_4_4")
    return as_result(assign(*drawn, name).members.items()) == expected


@given(groups())
def test_the_answer_is_that_of_the_plain_play(drawn: Group) -> None:
    assert [name for name in ASSIGNORS if not is_played(drawn, name)] == []


@pytest.mark.slow
@both
def test_the_answer_is_that_of_the_plain_play_in_larger_groups(name: str) -> None:
    assert [seed for seed in range(150) if not is_played(larger_group(Random(seed)), name)] == []


# --- properties of every answer ---------------------------------------------------------------------


def answers(drawn: Group) -> list[GroupAssignment]:
    return [assign(*drawn, name) for name in ASSIGNORS]


@given(groups())
def test_every_task_is_active_exactly_once(drawn: Group) -> None:
    for answer in answers(drawn):
        active, _ = holders(drawn[0], answer)
        assert active == dict.fromkeys(all_tasks(drawn[1]), 1)


@given(groups())
def test_no_process_holds_a_task_twice(drawn: Group) -> None:
    for answer in answers(drawn):
        for held in held_by_process(drawn[0], answer).values():
            assert set(held.values()) <= {1}


@given(groups())
def test_a_stateful_task_has_as_many_standbys_as_there_are_processes_for(drawn: Group) -> None:
    group, topology = drawn
    processes = len({member.metadata.process_id for member in group.members.values()})
    possible = min(group.configs.num_standby_replicas, processes - 1)
    for answer in answers(drawn):
        _, standby = holders(group, answer)
        for task in all_tasks(topology):
            assert standby[task] == (possible if topology.is_stateful(task.subtopology_id) else 0)


@given(groups())
def test_every_member_has_an_answer_and_nobody_warms_up(drawn: Group) -> None:
    for answer in answers(drawn):
        assert list(answer.members) == list(drawn[0].members)
        assert all(not target.warmup_tasks for target in answer.members.values())


@given(groups())
def test_tasks_in_the_answer_are_in_order(drawn: Group) -> None:
    for answer in answers(drawn):
        for target in answer.members.values():
            for held in (target.active_tasks, target.standby_tasks):
                assert list(tasks_by_subtopology(dict(held)).items()) == list(held.items())


@given(groups())
def test_the_input_stays_as_it_was(drawn: Group) -> None:
    before = repr(drawn)
    answers(drawn)
    assert repr(drawn) == before


@given(groups())
def test_equal_inputs_have_equal_answers(drawn: Group) -> None:
    assert answers(drawn) == answers(drawn)


@given(groups())
def test_an_even_answer_without_standbys_is_a_fixed_point(drawn: Group) -> None:
    """Members of one process can differ by more than a task. The quota then moves some of them (reference, T8)."""
    group, topology = drawn
    cold = GroupSpec({name: GroupMember(member.metadata) for name, member in group.members.items()})
    for name in ASSIGNORS:
        first = assign(cold, topology, name)
        counts = [sum(map(len, target.active_tasks.values())) for target in first.members.values()]
        if max(counts) - min(counts) <= 1:
            assert assign(after(cold, first), topology, name) == first


# --- single cases -----------------------------------------------------------------------------------

STATEFUL = TopologyDescriber([Subtopology("0", 2, True)])
TASK = TaskId("0", 0)


@pytest.mark.parametrize(("name", "package"), [("group_sticky", ""), ("group_sticky_4_4", "api.")])
def test_a_group_without_members_cannot_take_a_task(name: str, package: str) -> None:
    topology = TopologyDescriber([Subtopology("10", 1, True), Subtopology("2", 1, True)])
    with pytest.raises(GroupAssignorError, match=r"^No process available to assign active task 10_0\.$") as raised:
        assign(GroupSpec({}), topology, name)
    kafkas = f"org.apache.kafka.coordinator.group.{package}streams.assignor.TaskAssignorException"
    assert raised.value.java_type == kafkas


@both
def test_a_group_without_members_and_tasks_has_an_empty_answer(name: str) -> None:
    assert assign(GroupSpec({}), TopologyDescriber([]), name) == GroupAssignment({})


@pytest.mark.parametrize(("name", "is_overlooked"), [("group_sticky", True), ("group_sticky_4_4", False)])
def test_a_usable_standby_is_overlooked_where_kafka_overlooks_it(name: str, is_overlooked: bool) -> None:
    """KAFKA-20899: the first previous owner's process has the task now, so the second one is not considered."""
    standby = MemberAssignmentState(standby_tasks={"0": [0]})
    members = {
        # Visited in this order: one-letter ids hash to themselves.
        "a": GroupMember(MemberMetadata("p1"), standby),
        "b": GroupMember(MemberMetadata("p2"), standby),
        "c": GroupMember(MemberMetadata("p3")),
        "d": GroupMember(MemberMetadata("p4")),
    }
    answer = assign(GroupSpec(members, AssignmentConfigs(1)), STATEFUL, name)
    assert answer.members["a"].active_tasks == {"0": (0,)}
    assert (answer.members["b"].standby_tasks != {"0": (0,)}) is is_overlooked


def owner_of_the_task(states: dict[str, MemberAssignmentState], name: str = "group_sticky_4_4") -> str:
    group = GroupSpec({member: GroupMember(MemberMetadata(f"p-{member}"), states[member]) for member in states})
    answer = assign(group, STATEFUL, name)
    return next(member for member, target in answer.members.items() if 0 in target.active_tasks.get("0", ()))


def test_a_member_that_reports_an_offset_gets_the_task() -> None:
    cold = {member: MemberAssignmentState() for member in "abcd"}
    first = owner_of_the_task(cold)
    for other in set("abcd") - {first}:
        reported = {**cold, other: MemberAssignmentState(task_offsets={TASK: 0})}
        assert owner_of_the_task(reported) == other
        assert owner_of_the_task(reported, "group_sticky") == first


@pytest.mark.parametrize(("less", "more"), [(-(2**63), -1), (-1, 0), (5, 100), (0, 2**63 - 1)])
def test_the_greatest_offset_is_asked_first(less: int, more: int) -> None:
    behind, ahead = MemberAssignmentState(task_offsets={TASK: less}), MemberAssignmentState(task_offsets={TASK: more})
    assert owner_of_the_task({"a": behind, "b": ahead}) == "b"
    assert owner_of_the_task({"a": ahead, "b": behind}) == "a"


def test_among_equal_offsets_the_hash_order_of_members_decides() -> None:
    reported = MemberAssignmentState(task_offsets={TASK: 7})
    assert owner_of_the_task({"b": reported, "a": reported}) == "a"


def test_a_running_standby_is_asked_before_any_offset() -> None:
    ahead = MemberAssignmentState(task_offsets={TASK: 2**63 - 1})
    assert owner_of_the_task({"a": ahead, "b": MemberAssignmentState(standby_tasks={"0": [0]})}) == "b"


def test_the_offsets_of_two_running_standbys_decide_between_them() -> None:
    behind = MemberAssignmentState(standby_tasks={"0": [0]})
    ahead = MemberAssignmentState(standby_tasks={"0": [0]}, task_offsets={TASK: 1})
    assert owner_of_the_task({"a": behind, "b": ahead}) == "b"


def test_offsets_of_unknown_tasks_are_passed_over() -> None:
    """Partition 5 of a sub-topology of two would have the number of a task of the next one."""
    topology = TopologyDescriber([Subtopology("0", 2, True), Subtopology("1", 9, True)])
    unknown = {TaskId("0", 5): 9, TaskId("1", 9): 9, TaskId("gone", 0): 9}
    states = {"a": MemberAssignmentState(), "b": MemberAssignmentState(standby_tasks={"1": [3]}, task_offsets=unknown)}
    members = {member: GroupMember(MemberMetadata(f"p-{member}"), state) for member, state in states.items()}
    without = {**members, "b": GroupMember(MemberMetadata("p-b"), MemberAssignmentState(standby_tasks={"1": [3]}))}
    assert assign(GroupSpec(members), topology, "group_sticky_4_4") == assign(
        GroupSpec(without), topology, "group_sticky_4_4"
    )


@both
def test_neither_tags_nor_end_offsets_nor_warm_ups_are_looked_at(name: str) -> None:
    told = MemberAssignmentState(warmup_tasks={"0": [0]}, task_end_offsets={TASK: 9})
    members = {
        "a": GroupMember(MemberMetadata("p1")),
        "b": GroupMember(MemberMetadata("p2", "instance", "rack", {"zone": "z"}), told),
    }
    plain = {member: GroupMember(MemberMetadata(told.metadata.process_id)) for member, told in members.items()}
    told_group = GroupSpec(members, AssignmentConfigs(1, ("zone",)))
    assert assign(told_group, STATEFUL, name) == assign(GroupSpec(plain, AssignmentConfigs(1)), STATEFUL, name)


@both
def test_the_order_of_members_decides_where_hashes_collide(name: str) -> None:
    """``Aa`` and ``BB`` have the same hash code, so a hash map lists them in the order of insertion."""
    topology = TopologyDescriber([Subtopology("0", 1, False)])
    first, second = GroupMember(MemberMetadata("a")), GroupMember(MemberMetadata("a"))
    given = MemberAssignment({"0": [0]})
    assert assign(GroupSpec({"Aa": first, "BB": second}), topology, name).members["Aa"] == given
    assert assign(GroupSpec({"BB": second, "Aa": first}), topology, name).members["BB"] == given


@pytest.mark.parametrize(("name", "owner"), [("group_sticky", "a"), ("group_sticky_4_4", "b")])
def test_of_two_processes_in_one_slot_4_3_takes_the_one_met_first_and_4_4_the_last(name: str, owner: str) -> None:
    topology = TopologyDescriber([Subtopology("0", 1, False)])
    members = {"a": GroupMember(MemberMetadata("Aa")), "b": GroupMember(MemberMetadata("BB"))}
    assert assign(GroupSpec(members), topology, name).members[owner].active_tasks == {"0": (0,)}


# --- numbers of standbys that no broker sends -------------------------------------------------------


def test_a_negative_number_of_standbys_is_kafkas_error_where_4_3_fails_on_it() -> None:
    members = {"a": GroupMember(MemberMetadata("p"), MemberAssignmentState(standby_tasks={"gone": [0]}))}
    group = GroupSpec(members, AssignmentConfigs(-1))
    with pytest.raises(InvalidGroupError, match=r"num.standby.replicas: -1: .* give a number from 0") as raised:
        assign(group, STATEFUL)
    assert raised.value.java_type == "java.lang.IllegalArgumentException"
    assert assign(group, STATEFUL, "group_sticky_4_4").members["a"].active_tasks == {"0": (0, 1)}


@both
def test_more_standbys_than_an_int_can_count_are_kafkas_error(name: str) -> None:
    group = GroupSpec({"a": GroupMember(MemberMetadata("p"))}, AssignmentConfigs(2**30))
    with pytest.raises(InvalidGroupError, match=r"num.standby.replicas: 1073741824: .* give a smaller number"):
        assign(group, STATEFUL, name)


# --- caches between calls ---------------------------------------------------------------------------


@both
def test_members_that_move_to_another_process_are_seen_there(name: str) -> None:
    topology = TopologyDescriber([Subtopology("0", 2, False)])
    for processes, counts in ((("p", "q"), [1, 1]), (("p", "p"), [1, 1]), (("p", "p", "q"), [1, 0, 1])):
        group = GroupSpec(
            {f"m{place}": GroupMember(MemberMetadata(process)) for place, process in enumerate(processes)}
        )
        answer = assign(group, topology, name)
        assert [len(target.active_tasks.get("0", ())) for target in answer.members.values()] == counts
