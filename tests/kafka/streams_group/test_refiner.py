"""The refiner of Kafka's branch, rule by rule: waiting moves, their warm-ups, and waiting standbys."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from assignor_lab.kafka.streams_group.reconciliation import Standing
from assignor_lab.kafka.streams_group.refiner import Refiner
from assignor_lab.kafka.streams_group.tasks import TasksByRole
from assignor_lab.kafka.streams_group.warmups import NOT_STARTED

LAG, END = 100, 10_000


def has(active: str = "", standby: str = "", warmup: str = "") -> TasksByRole:
    return TasksByRole(*(frozenset(map(int, each.split())) for each in (active, standby, warmup)))


def refined(
    now: Mapping[str, TasksByRole],
    targets: Mapping[str, TasksByRole],
    offsets: Mapping[str, Mapping[int, int]] | None = None,
    *,
    warmups: int = 2,
) -> dict[str, TasksByRole]:
    """Tasks sent to members; member p1 belongs to process p. The end of each task with a role is reported, too."""
    offsets = offsets or {}
    standings = {member: Standing(member[0], 1, assigned=tasks) for member, tasks in now.items()}
    ends = {
        member: {t: END for t in told if t in now[member].active | now[member].standby | now[member].warmup}
        for member, told in offsets.items()
    }
    refiner = Refiner(warmups, LAG, frozenset(range(100)), lambda task: task)
    return dict(refiner.refined(targets, standings, offsets, ends))


def test_move_of_state_waits_for_a_warm_up_on_its_target() -> None:
    sent = refined({"p1": has("1 2"), "q1": has()}, {"p1": has("1"), "q1": has("2")})
    assert sent == {"p1": has("1 2"), "q1": has("", "", "2")}


def test_no_warm_ups_mean_the_target_as_it_is() -> None:
    targets = {"p1": has("1"), "q1": has("2")}
    assert refined({"p1": has("1 2"), "q1": has()}, targets, warmups=0) == targets


@pytest.mark.parametrize(("offset", "moves"), [(END - LAG, True), (END - LAG - 1, False), (NOT_STARTED, False)])
def test_warm_up_is_complete_when_its_lag_is_acceptable(offset: int, moves: bool) -> None:
    now = {"p1": has("1 2"), "q1": has("", "", "2")}
    targets = {"p1": has("1"), "q1": has("2")}
    sent = refined(now, targets, {"q1": {2: offset}})
    assert (sent == targets) == moves


def test_move_within_a_process_does_not_wait() -> None:
    targets = {"p1": has("1"), "p2": has("2")}
    assert refined({"p1": has("1 2"), "p2": has()}, targets) == targets


def test_move_to_a_sibling_of_a_complete_copy_does_not_wait() -> None:
    now = {"p1": has("1"), "q1": has(), "q2": has("", "1")}
    targets = {"p1": has(), "q1": has("1"), "q2": has()}
    assert refined(now, targets, {"q2": {1: END}}) == targets


def test_task_of_nobody_goes_where_its_state_lies_on_the_disk() -> None:
    now = {"p1": has("", "1"), "q1": has()}
    targets = {"p1": has(), "q1": has("1")}
    assert refined(now, targets, {"p1": {1: END}, "q1": {1: 500}}) == targets


def test_task_of_nobody_is_run_by_its_best_copy_until_its_target_is_warm() -> None:
    """Copies that stay standbys come last; otherwise the process with the fewest tasks per member wins."""
    now = {"p1": has("5", "1"), "r1": has("", "1"), "s1": has("6 7", "1"), "q1": has()}
    targets = {"p1": has("5"), "r1": has("", "1"), "s1": has("6 7"), "q1": has("1")}
    sent = refined(now, targets, {"p1": {1: END}, "r1": {1: END}, "s1": {1: END}})
    assert sent == {"p1": has("1 5"), "r1": has("", "1"), "s1": has("6 7"), "q1": has("", "", "1")}


def test_task_whose_owner_restores_it_still_moves_at_once_if_nobody_else_has_it() -> None:
    now, targets = {"p1": has("1"), "q1": has()}, {"p1": has(), "q1": has("1")}
    assert refined(now, targets, {"p1": {1: 5}}) == targets
    assert refined(now, targets, {"p1": {1: END}}) != targets


def test_budget_goes_to_warm_ups_that_are_there_then_to_the_emptiest_process() -> None:
    now = {"p1": has("1 2 3"), "q1": has("9", "", "3"), "r1": has()}
    targets = {"p1": has(), "q1": has("1 3 9"), "r1": has("2")}
    assert refined(now, targets, {"q1": {3: 5}}, warmups=1)["q1"].warmup == {3}
    two = refined(now, targets, {"q1": {3: 5}}, warmups=2)
    assert (two["p1"], two["r1"]) == (has("1 2 3"), has("", "", "2"))
    assert two["q1"].warmup == {3}


def test_warm_ups_of_a_member_that_restores_an_active_task_come_last() -> None:
    now = {"p1": has("1 2"), "q1": has("8"), "r1": has("3 4 5")}
    targets = {"p1": has(), "q1": has("1 8"), "r1": has("2 3 4 5")}
    # q1 has fewer tasks, but its warm-ups do not progress until task 8 is restored.
    assert refined(now, targets, {"q1": {8: 5}}, warmups=1)["r1"].warmup == {2}
    assert refined(now, targets, warmups=1)["q1"].warmup == {1}


def test_standby_on_the_target_warms_for_nothing_and_another_one_waits_for_it() -> None:
    now = {"p1": has("1"), "q1": has("", "1"), "r1": has()}
    targets = {"p1": has(), "q1": has("1"), "r1": has("", "1")}
    assert refined(now, targets, {"q1": {1: 5}}, warmups=1) == {"p1": has("1"), "q1": has("", "1"), "r1": has()}


def test_standby_beside_the_active_task_that_stays_has_to_wait() -> None:
    now = {"p1": has("1"), "q1": has()}
    targets = {"p1": has("", "1"), "q1": has("1")}
    assert refined(now, targets) == {"p1": has("1"), "q1": has("", "", "1")}


def test_standby_on_a_sibling_of_the_target_moves_there_or_warms_where_it_is() -> None:
    now = {"p1": has("1 2"), "q1": has(), "q2": has("", "1")}
    targets = {"p1": has(), "q1": has("1 2"), "q2": has()}
    # A new warm-up comes before an existing standby.
    one = refined(now, targets, {"q2": {1: 5}}, warmups=1)
    assert (one["q1"], one["q2"]) == (has("", "", "2"), has("", "1"))
    two = refined(now, targets, {"q2": {1: 5}}, warmups=2)
    assert (two["q1"], two["q2"]) == (has("", "", "1 2"), has())
