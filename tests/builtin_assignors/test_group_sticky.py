"""The brokers' sticky assignor: Kafka's recorded answers, and what holds for every answer."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from assignment_api.group import (
    AssignmentConfigs,
    GroupAssignment,
    GroupAssignorError,
    GroupMember,
    GroupSpec,
    MemberAssignment,
    MemberAssignmentState,
    MemberMetadata,
    Subtopology,
    TopologyDescriber,
)
from assignor_lab.scenarios import Scenario, error_row, group_result_row, read_scenarios
from builtin_assignors.group_sticky import GroupStickyTaskAssignor
from tests.builtin_assignors.golden import DATA, documents
from tests.builtin_assignors.groups import Group, after, all_tasks, groups, held_by_process, holders

ROOT = Path(__file__).parents[2]


def assign(group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
    return GroupStickyTaskAssignor().assign(group, topology)


def row(scenario: Scenario) -> dict[str, Any]:
    try:
        return group_result_row(scenario, "group_sticky", assign(scenario.group_spec, scenario.topology))
    except GroupAssignorError as error:
        failed = error_row(scenario, "group_sticky", type(error).__name__, error.java_type, str(error))
        # The recorded rows have Kafka's exception as their type.
        return {**failed, "error": {"type": failed["error"]["java_type"], "message": failed["error"]["message"]}}


def test_every_golden_scenario_has_kafkas_answer() -> None:
    folder = DATA / "golden" / "streams-group"
    scenarios = list(read_scenarios(folder / "sticky.scenarios.jsonl.gz"))
    results = documents(folder / "sticky.group_sticky.results.jsonl.gz")
    assert len(scenarios) == 800
    assert [
        row(scenario)["id"] for scenario, result in zip(scenarios, results, strict=True) if row(scenario) != result
    ] == []


def test_every_scale_scenario_has_the_digest_of_kafkas_answer() -> None:
    folder = DATA / "scale" / "streams-group"
    digests = json.loads((folder / "digests.json").read_text())
    scenarios = list(read_scenarios(folder / "jmh.scenarios.jsonl.gz"))
    assert len(scenarios) == 16
    for scenario in scenarios:
        text = json.dumps(row(scenario), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert (scenario.id, hashlib.sha256(text.encode()).hexdigest()) == (
            scenario.id,
            digests[f"{scenario.id}/group_sticky"],
        )


@given(groups())
def test_every_task_is_active_exactly_once(drawn: Group) -> None:
    group, topology = drawn
    active, _ = holders(group, assign(*drawn))
    assert active == dict.fromkeys(all_tasks(topology), 1)


@given(groups())
def test_no_process_holds_a_task_twice(drawn: Group) -> None:
    for held in held_by_process(drawn[0], assign(*drawn)).values():
        assert set(held.values()) <= {1}


@given(groups())
def test_a_stateful_task_has_as_many_standbys_as_there_are_processes_for(drawn: Group) -> None:
    group, topology = drawn
    processes = len({member.metadata.process_id for member in group.members.values()})
    possible = min(group.configs.num_standby_replicas, processes - 1)
    _, standby = holders(group, assign(*drawn))
    for task in all_tasks(topology):
        assert standby[task] == (possible if topology.is_stateful(task.subtopology_id) else 0)


@given(groups())
def test_every_member_has_an_answer_and_nobody_warms_up(drawn: Group) -> None:
    answer = assign(*drawn)
    assert list(answer.members) == list(drawn[0].members)
    assert all(not target.warmup_tasks for target in answer.members.values())


@given(groups())
def test_the_input_stays_as_it_was(drawn: Group) -> None:
    before = repr(drawn)
    assign(*drawn)
    assert repr(drawn) == before


@given(groups())
def test_equal_inputs_have_equal_answers(drawn: Group) -> None:
    assert assign(*drawn) == assign(*drawn)


@given(groups())
def test_an_even_answer_without_standbys_is_a_fixed_point(drawn: Group) -> None:
    """Members of one process can differ by more than a task, and then the quota moves some of them (reference, T8)."""
    group, topology = drawn
    cold = GroupSpec({name: GroupMember(member.metadata) for name, member in group.members.items()})
    first = assign(cold, topology)
    counts = [sum(map(len, target.active_tasks.values())) for target in first.members.values()]
    if max(counts) - min(counts) <= 1:
        assert assign(after(cold, first), topology) == first


def test_a_group_without_members_cannot_take_a_task() -> None:
    topology = TopologyDescriber([Subtopology("10", 1, True), Subtopology("2", 1, True)])
    with pytest.raises(GroupAssignorError, match=r"^No process available to assign active task 10_0\.$"):
        assign(GroupSpec({}), topology)


def test_a_group_without_members_and_tasks_has_an_empty_answer() -> None:
    assert assign(GroupSpec({}), TopologyDescriber([])) == GroupAssignment({})


def test_a_usable_standby_is_overlooked_where_kafka_overlooks_it() -> None:
    """KAFKA-20899: the first previous owner's process now has the task, so the second one is not asked."""
    topology = TopologyDescriber([Subtopology("0", 2, True)])
    standby = MemberAssignmentState(standby_tasks={"0": [0]})
    members = {
        # Visited in this order: one-letter ids hash to themselves.
        "a": GroupMember(MemberMetadata("p1"), standby),
        "b": GroupMember(MemberMetadata("p2"), standby),
        "c": GroupMember(MemberMetadata("p3")),
        "d": GroupMember(MemberMetadata("p4")),
    }
    answer = assign(GroupSpec(members, AssignmentConfigs(1)), topology)
    assert answer.members["a"].active_tasks == {"0": (0,)}
    assert answer.members["b"].standby_tasks != {"0": (0,)}


def test_the_order_of_members_decides_where_hashes_collide() -> None:
    """``Aa`` and ``BB`` have one hash code, so a hash map lists them as they were put into it."""
    topology = TopologyDescriber([Subtopology("0", 1, False)])
    first, second = GroupMember(MemberMetadata("Aa")), GroupMember(MemberMetadata("BB"))
    given = MemberAssignment({"0": [0]})
    assert assign(GroupSpec({"Aa": first, "BB": second}), topology).members["Aa"] == given
    assert assign(GroupSpec({"BB": second, "Aa": first}), topology).members["BB"] == given


def test_the_answer_does_not_depend_on_pythons_hash_seed() -> None:
    program = (
        "import sys\n"
        "from assignor_lab.scenarios import canonical_line, group_result_row, read_scenarios\n"
        "from builtin_assignors.group_sticky import GroupStickyTaskAssignor\n"
        "for scenario in read_scenarios(sys.argv[1]):\n"
        "    answer = GroupStickyTaskAssignor().assign(scenario.group_spec, scenario.topology)\n"
        "    sys.stdout.buffer.write(canonical_line(group_result_row(scenario, 'x', answer)))\n"
    )
    scenarios = DATA / "scale" / "streams-group" / "jmh.scenarios.jsonl.gz"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, str(scenarios)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
