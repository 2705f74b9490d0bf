"""The assignor for groups of the streams protocol, and its discovery by the lab."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment_api.group import (
    AssignmentConfigs,
    GroupAssignment,
    GroupAssignorError,
    GroupMember,
    GroupSpec,
    MemberMetadata,
    Subtopology,
    TopologyDescriber,
)
from assignment_api.plugins import discover
from assignor_round_robin import GroupRoundRobinTaskAssignor

TOPOLOGY = TopologyDescriber([Subtopology("0", 5, True), Subtopology("1", 2, False)])


def group(processes: list[int], standbys: int = 0) -> GroupSpec:
    """A group with this number of members on each process."""
    members = {
        f"m{process}{number}": GroupMember(MemberMetadata(f"p{process}"))
        for process, count in enumerate(processes)
        for number in range(count)
    }
    return GroupSpec(members, AssignmentConfigs(standbys))


def assigned(processes: list[int], standbys: int = 0) -> GroupAssignment:
    return GroupRoundRobinTaskAssignor().assign(group(processes, standbys), TOPOLOGY)


def tasks(of_role: dict[str, tuple[int, ...]]) -> list[tuple[str, int]]:
    return [(key, partition) for key, partitions in of_role.items() for partition in partitions]


def test_processes_come_before_second_members() -> None:
    answer = assigned([2, 1])
    assert {member: dict(target.active_tasks) for member, target in answer.members.items()} == {
        "m00": {"0": (0, 3), "1": (1,)},
        "m10": {"0": (1, 4)},
        "m01": {"0": (2,), "1": (0,)},
    }


def test_tasks_without_members_are_an_error() -> None:
    with pytest.raises(GroupAssignorError, match="no member"):
        assigned([])
    assert GroupRoundRobinTaskAssignor().assign(group([]), TopologyDescriber([])).members == {}


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(-1, 4))
def test_every_task_is_active_once_and_no_process_holds_one_twice(processes: list[int], standbys: int) -> None:
    answer = assigned(processes, standbys)
    active = Counter(task for target in answer.members.values() for task in tasks(dict(target.active_tasks)))
    assert active == Counter([("0", 0), ("0", 1), ("0", 2), ("0", 3), ("0", 4), ("1", 0), ("1", 1)])
    held = Counter(
        (member[:2], task)
        for member, target in answer.members.items()
        for task in (*tasks(dict(target.active_tasks)), *tasks(dict(target.standby_tasks)))
    )
    assert set(held.values()) == {1}
    wanted = max(min(standbys, len(processes) - 1), 0)
    assert sum(len(tasks(dict(target.standby_tasks))) for target in answer.members.values()) == 5 * wanted


def test_the_lab_finds_it_by_its_entry_point() -> None:
    found = discover().group_assignor("group_round_robin")
    assert found.distribution == "assignor-round-robin"
    assert isinstance(found.plugin.factory(), GroupRoundRobinTaskAssignor)
