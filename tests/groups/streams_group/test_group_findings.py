"""Faults that the coordinator would pass on to the members."""

from __future__ import annotations

from assignment_api.group import TaskId
from assignor_lab.groups.streams_group.faults import GroupFindingKind, group_findings
from tests.groups.streams_group.states import Member, answer, group, topology


def found(members: list[Member], sizes: dict[str, int], stateless: str = "", standbys: int = 0) -> list[object]:
    spec = group(members, standbys)
    return [(each.kind, each.task) for each in group_findings(spec, topology(sizes, stateless), answer(members))]


def test_a_good_answer_has_none() -> None:
    assert found([Member("a", after="0_0 | 0_1"), Member("b", after="0_1 | 0_0")], {"0": 2}, standbys=1) == []


def test_a_task_that_nobody_runs() -> None:
    assert found([Member("a", after="0_0")], {"0": 2}) == [(GroupFindingKind.TASK_NOT_ASSIGNED, TaskId("0", 1))]


def test_a_task_that_two_members_of_one_process_run_is_two_faults() -> None:
    members = [Member("a", after="0_0"), Member("a", after="0_0")]
    assert found(members, {"0": 1}) == [
        (GroupFindingKind.ACTIVE_MORE_THAN_ONCE, TaskId("0", 0)),
        (GroupFindingKind.TWICE_IN_ONE_PROCESS, TaskId("0", 0)),
    ]


def test_a_standby_too_many() -> None:
    members = [Member("a", after="0_0"), Member("b", after="| 0_0"), Member("c", after="| 0_0")]
    assert found(members, {"0": 1}, standbys=1) == [(GroupFindingKind.TOO_MANY_STANDBYS, TaskId("0", 0))]


def test_a_warm_up_beyond_the_standbys_is_allowed() -> None:
    members = [Member("a", after="0_0"), Member("b", after="| 0_0"), Member("c", after="~ 0_0")]
    assert found(members, {"0": 1}, standbys=1) == []


def test_a_copy_of_nothing() -> None:
    members = [Member("a", after="1_0"), Member("b", after="~ 1_0")]
    assert found(members, {"1": 1}, stateless="1") == [(GroupFindingKind.STANDBY_WITHOUT_CHANGELOG, TaskId("1", 0))]


def test_a_finding_names_task_and_process_for_a_person() -> None:
    members = [Member("a", after="0_0"), Member("a", after="| 0_0")]
    (fault,) = group_findings(group(members, 1), topology({"0": 1}), answer(members))
    assert fault.message == "task '0_0': process 'a' holds it 2 times"
