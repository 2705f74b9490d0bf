"""Each rule of `assignor check` finds its case, and passes its ordinary neighbours."""

from __future__ import annotations

import pytest

from assignor_lab.watching.findings import RULES, unusual_rebalances
from assignor_lab.watching.limits import WatchLimits
from assignor_lab.watching.rebalances import WatchedGroup
from tests.watching.groups import past, rebalance

LIMITS = WatchLimits(followups=2, probings=2)
A, B = {"0_0": "a"}, {"0_0": "b"}


def rules(group: WatchedGroup, limits: WatchLimits = LIMITS) -> list[str]:
    return [each.rule for each in unusual_rebalances(group, limits)]


def test_a_late_rebalance_without_a_cause_is_found() -> None:
    (found,) = unusual_rebalances(past(rebalance(0, A), rebalance(100, A, reason="", since_s=100)), LIMITS)
    assert (found.rule, found.time_ms, found.generation) == ("no known cause", 100_000, 100)


@pytest.mark.parametrize("ordinary", [{"since_s": 3}, {"since_s": 100, "missing": (5, 6)}])
def test_follow_ups_and_rebalances_behind_a_gap_need_no_cause(ordinary: dict[str, object]) -> None:
    assert rules(past(rebalance(0, A), rebalance(100, A, reason="", **ordinary))) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(("since_s", "noun"), [(1, "3 follow-ups"), (60, "3 probing rebalances")])
def test_more_rebalances_than_the_limit_with_the_same_members_are_endless(since_s: float, noun: str) -> None:
    chain = [rebalance(since_s * number, A, since_s=since_s) for number in range(1, 4)]
    (found,) = unusual_rebalances(past(rebalance(0, A, is_same=False), *chain), LIMITS)
    assert found.sentence.startswith(noun)
    assert (found.value, found.limit, found.known) == (3, 2, None)


def test_a_member_that_leaves_begins_another_chain() -> None:
    chain = [rebalance(number, A, gone=("c",) if number == 2 else ()) for number in range(1, 5)]
    assert rules(past(rebalance(0, A, is_same=False), *chain)) == []


def test_a_task_that_returns_more_often_than_the_limit_is_found_once() -> None:
    chain = [rebalance(number, B if number % 2 else A) for number in range(1, 9)]
    limits = WatchLimits(followups=100)
    (found,) = unusual_rebalances(past(rebalance(0, A), *chain), limits)
    assert (found.rule, found.sentence) == ("back and forth", "0_0 moved back and forth between a and b.")


def test_moves_by_members_that_come_and_go_are_ordinary() -> None:
    chain = [rebalance(number, B if number % 2 else A, gone=(f"c{number}",)) for number in range(1, 9)]
    assert rules(past(rebalance(0, A), *chain)) == []


def test_returns_outside_of_the_window_are_ordinary() -> None:
    chain = [rebalance(number * 400, B if number % 2 else A, since_s=400) for number in range(1, 9)]
    assert rules(past(rebalance(0, A), *chain), WatchLimits(probings=100)) == []


def test_an_instance_that_leaves_three_times_in_ten_minutes_flaps() -> None:
    chain = [rebalance(number * 60, A, gone=("b",) if number % 2 else ()) for number in range(1, 7)]
    (found,) = unusual_rebalances(past(rebalance(0, A), *chain), LIMITS)
    assert (found.rule, found.sentence) == ("flapping instance", "b left or restarted 3 times within 600 s.")


def test_an_instance_that_leaves_once_an_hour_does_not_flap() -> None:
    chain = [rebalance(number * 3600, A, gone=("b",)) for number in range(1, 7)]
    assert rules(past(rebalance(0, A), *chain)) == []


def test_a_task_without_an_owner_is_found_where_it_lost_its_owner() -> None:
    group = past(rebalance(0, A), rebalance(10, {}, unowned=["0_0"]), rebalance(100, A, gone=("b",)))
    (found,) = unusual_rebalances(group, LIMITS)
    assert (found.rule, found.generation, found.sentence) == ("tasks without owner", 10, "0_0 had no owner for 90 s.")


def test_a_task_without_an_owner_at_the_end_is_found() -> None:
    (found,) = unusual_rebalances(past(rebalance(0, A), rebalance(10, {}, unowned=["0_0"])), LIMITS)
    assert found.sentence == "0_0 had no owner after the last rebalance."


def test_a_delay_that_the_leader_announced_is_ordinary() -> None:
    group = past(
        rebalance(0, A), rebalance(10, {}, unowned=["0_0"], allowed_s=300), rebalance(310, A, gone=("b",))
    )  # fmt: skip
    assert rules(group) == []
    assert rules(past(rebalance(0, A), rebalance(10, {}, unowned=["0_0"], allowed_s=300))) == []


# --- known loops ------------------------------------------------------------------------------------


def endless(protocol: str = "classic", **details: object) -> WatchedGroup:
    copies = [[("0_0", "b")], [("0_0", "c")]]
    made = [rebalance(n, A, copies=copies[n % 2], **details) for n in range(1, 6)]  # type: ignore[arg-type]
    return past(rebalance(0, A, is_same=False), *made, protocol=protocol)


@pytest.mark.parametrize(
    ("group", "known"),
    [
        (endless("streams"), "KAFKA-21166"),
        (endless(assignor="fallbackpriortaskassignor"), "FallbackPriorTaskAssignor"),
        (endless(assignor="stickytaskassignor"), "StickyTaskAssignor"),
        (endless(lag=9, recovery_lag=5), "acceptable.recovery.lag"),
        (endless(assignor="highavailabilitytaskassignor"), None),
    ],
)
def test_known_loops_of_kafka_have_their_name_and_a_remedy(group: WatchedGroup, known: str | None) -> None:
    (found,) = unusual_rebalances(group, LIMITS)
    assert (found.rule, found.known) == ("endless follow-ups", known)
    assert (found.remedy is None) is (known is None)


def test_every_rule_has_a_case_above() -> None:
    assert list(RULES) == [
        "no known cause", "endless follow-ups", "back and forth", "flapping instance", "tasks without owner",
    ]  # fmt: skip
