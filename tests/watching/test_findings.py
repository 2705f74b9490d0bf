"""Each rule of `assignor check` finds its case, and passes its ordinary neighbours."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from assignor_lab.documents.errors import Place
from assignor_lab.model.decision import InstanceShare
from assignor_lab.model.events import (
    ConfigMismatch,
    DecisionFailed,
    GroupEmptied,
    GroupEvent,
    GroupRefilled,
    InstanceGone,
    InstanceRestartedInSession,
    InstanceStarted,
    MemberFenced,
    PollTimedOut,
    ShutdownRequested,
    ThreadDied,
    ThreadReplaced,
)
from assignor_lab.model.evidence import Evidence, EvidenceKind
from assignor_lab.model.moment import Moment
from assignor_lab.watching.findings import RULES, unusual_rebalances
from assignor_lab.watching.limits import WatchLimits
from assignor_lab.watching.planned import PlannedRestarts
from assignor_lab.watching.rebalances import WatchedGroup, WatchedRebalance
from tests.watching.groups import past, rebalance

LIMITS = WatchLimits(followups=2, probings=2)
SEEN = Evidence(EvidenceKind.RECORD)
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
    events = [InstanceGone(Moment.at(60_000 * number), SEEN, "b") for number in (1, 3, 5)]
    (found,) = unusual_rebalances(past(rebalance(0, A), *chain, events=events), LIMITS)
    assert (found.rule, found.sentence) == ("flapping instance", "b left or restarted 3 times within 600 s.")


def test_an_instance_that_leaves_once_an_hour_does_not_flap() -> None:
    chain = [rebalance(number * 3600, A, gone=("b",)) for number in range(1, 7)]
    events = [InstanceGone(Moment.at(3_600_000 * number), SEEN, "b") for number in range(1, 7)]
    assert rules(past(rebalance(0, A), *chain, events=events)) == []


def test_a_thread_that_is_fenced_after_its_poll_timeout_left_once() -> None:
    away = {"0_0": "a"}
    both = {"0_0": "a", "0_1": "b"}
    chain = [rebalance(60 * number, both if number % 2 == 0 else away, is_same=False) for number in range(5)]
    events: list[GroupEvent] = []
    for number in (0, 2):
        events += [
            PollTimedOut(Moment.at(60_000 * number + 50_000), SEEN, "b"),
            MemberFenced(Moment.at(60_000 * number + 70_000), SEEN, "b"),
        ]
    assert rules(past(*chain, events=events)) == ["poll timeout", "poll timeout"]
    events.append(PollTimedOut(Moment.at(290_000), SEEN, "b"))
    assert "flapping instance" in rules(past(*chain, events=events))


def gone(*seconds: float, name: str = "b") -> list[GroupEvent]:
    return [InstanceGone(Moment.at(round(1000 * each)), SEEN, name) for each in seconds]


def test_planned_restarts_of_two_rolls_are_no_flapping() -> None:
    group = past(*[rebalance(60 * number, A, is_same=False) for number in range(8)], events=gone(60, 180, 300))
    planned = PlannedRestarts({"b": (50_000, 170_000, 290_000)})
    assert [each.rule for each in unusual_rebalances(group, LIMITS)] == ["flapping instance"]
    assert unusual_rebalances(group, LIMITS, planned) == []
    other = PlannedRestarts({"c": (50_000, 170_000, 290_000)})
    assert [each.rule for each in unusual_rebalances(group, LIMITS, other)] == ["flapping instance"]


def test_a_crash_loop_after_a_planned_restart_is_found() -> None:
    group = past(*[rebalance(30 * number, A, is_same=False) for number in range(8)], events=gone(60, 90, 120, 150))
    (found,) = unusual_rebalances(group, LIMITS, PlannedRestarts({"b": (50_000,)}))
    assert (found.rule, found.value) == ("flapping instance", 3)


def test_restarts_within_the_session_of_a_static_member_can_be_planned() -> None:
    events = [InstanceRestartedInSession(Moment.at(60_000 * number), SEEN, "b") for number in (1, 3, 5)]
    group = past(rebalance(0, A), events=events)
    assert rules(group) == ["restarts of a static member"]
    assert unusual_rebalances(group, LIMITS, PlannedRestarts({"b": (58_000, 178_000, 298_000)})) == []


def departures(number: int, *, name: str = "") -> list[GroupEvent]:
    """Instances that start and are gone 20 s later; without a name each has another one."""
    found: list[GroupEvent] = []
    for at in range(number):
        begin = at * 60_000
        found.append(InstanceStarted(Moment.at(begin + 1), SEEN, name or f"b-{at}"))
        found.append(InstanceGone(Moment.at(begin + 20_000), SEEN, name or f"b-{at}"))
    return found


def test_new_instances_that_leave_at_once_are_a_crash_loop() -> None:
    chain = [rebalance(20 + 60 * number, A, is_same=False) for number in range(8)]
    (found,) = unusual_rebalances(past(rebalance(0, A), *chain, events=departures(8)), LIMITS)
    assert (found.rule, found.sentence) == (
        "departures of the group", "Instances left or restarted 8 times within 600 s."
    )  # fmt: skip
    large = attrs.evolve(LIMITS, group_departures=100)
    assert [each.sentence for each in unusual_rebalances(past(*chain, events=departures(8)), large)] == [
        "8 new instances left again within 600 s."
    ]


def test_a_roll_of_all_instances_is_ordinary() -> None:
    events = [InstanceGone(Moment.at(60_000 * number), SEEN, f"b-{number}") for number in range(4)]
    assert rules(past(rebalance(0, A), rebalance(300, A), events=events)) == []


@pytest.mark.parametrize("instances", [4, 5, 12])
def test_a_roll_of_instances_that_start_again_is_ordinary(instances: int) -> None:
    """Each of them leaves and starts between two decisions of its own, in a group that is minutes old."""
    events: list[GroupEvent] = []
    for number in range(instances):
        events.append(InstanceGone(Moment.at(20_000 * number + 1_000), SEEN, f"b{number}"))
        events.append(InstanceStarted(Moment.at(20_000 * number + 9_000), SEEN, f"b{number}"))
    # The past of this test has two instances.
    limits = attrs.evolve(LIMITS, group_departures=6)
    assert rules(past(rebalance(0, A), rebalance(300, A), events=events), limits) == []


@pytest.mark.parametrize(("number", "found"), [(2, []), (6, ["outage"])])
def test_a_single_instance_in_a_crash_loop_empties_its_group_again_and_again(number: int, found: list[str]) -> None:
    events: list[GroupEvent] = []
    for at in range(number):
        events.append(GroupEmptied(Moment.at(70_000 * at), SEEN, at))
        events.append(GroupRefilled(Moment.at(70_000 * at + 5_000), SEEN, 5_000))
    group = past(rebalance(0, A), *(rebalance(70 * at + 5, A, is_same=False) for at in range(number)), events=events)
    assert rules(group) == found
    if found:
        (finding,) = unusual_rebalances(group, LIMITS)
        assert finding.sentence == "The group lost its last member 6 times within 600 s."


def test_an_instance_that_is_found_again_is_no_crash_loop_of_the_group() -> None:
    chain = [rebalance(20 + 60 * number, A, is_same=False) for number in range(8)]
    assert rules(past(rebalance(0, A), *chain, events=departures(8, name="b"))) == ["flapping instance"]


@pytest.mark.parametrize(("number", "found"), [(2, []), (5, ["restarts of a static member"])])
def test_restarts_within_a_session_are_counted(number: int, found: list[str]) -> None:
    events = [InstanceRestartedInSession(Moment.at(14_000 * at), SEEN, "b1", 2) for at in range(number)]
    assert rules(past(rebalance(0, A), events=events)) == found
    if found:
        (finding,) = unusual_rebalances(past(rebalance(0, A), events=events), LIMITS)
        assert finding.sentence == "b1 restarted 5 times within 600 s, each time within its session."
        assert (finding.time_ms, finding.generation, finding.value) == (28_000, 2, 5)


@pytest.mark.parametrize(("minutes", "found"), [(0.5, []), (25, ["outage"])])
def test_time_without_members_is_an_outage(minutes: float, found: list[str]) -> None:
    empty_ms = round(minutes * 60_000)
    events = [GroupEmptied(Moment.at(10_000), SEEN, 7), GroupRefilled(Moment.at(10_000 + empty_ms), SEEN, empty_ms)]
    group = past(rebalance(0, A), rebalance(3_000, A, is_same=False), events=events)
    assert rules(group) == found
    if found:
        (finding,) = unusual_rebalances(group, LIMITS)
        assert (finding.generation, finding.sentence) == (7, "The group had no members for 25 min 0 s.")


def test_group_that_stays_empty_has_an_outage_and_no_task_without_owner() -> None:
    group = past(rebalance(0, A, unowned=["0_1"]), events=[GroupEmptied(Moment.at(10_000), SEEN, 7)])
    empty = attrs.evolve(group, is_empty=True)
    assert rules(empty) == ["outage"]


@pytest.mark.parametrize(
    ("event", "rule", "sentence"),
    [
        (
            PollTimedOut(Moment.at(5_000), SEEN, "b1", "1"),
            "poll timeout",
            "Thread 1 of b1 did not poll within max.poll.interval.ms and left.",
        ),
        (ThreadDied(Moment.at(5_000), SEEN, "b1", "1", "IOError"), "dead thread", "Thread 1 of b1 died: IOError."),
        (
            ThreadReplaced(Moment.at(5_000), SEEN, "b1", "1"),
            "dead thread",
            "Thread 1 of b1 died and was replaced.",
        ),
        (
            ShutdownRequested(Moment.at(5_000), SEEN, "b1", "instance"),
            "dead thread",
            "The exception handler of b1 closes the instance.",
        ),
        (
            DecisionFailed(Moment.at(5_000), SEEN, "topic in is missing"),
            "failed assignment",
            "No assignment was made: topic in is missing.",
        ),
    ],
)
def test_events_of_logs_are_findings_with_their_cause(event: GroupEvent, rule: str, sentence: str) -> None:
    (found,) = unusual_rebalances(past(rebalance(0, A), events=[event]), LIMITS)
    assert (found.rule, found.sentence, found.time_ms) == (rule, sentence, 5_000)
    (alone,) = unusual_rebalances(past(events=[event]), LIMITS)
    assert alone.rule == rule


def calm(**details: object) -> WatchedRebalance:
    """A rebalance of two stateful tasks; ``details`` change its decision."""
    made = rebalance(0, {"0_0": "a", "0_1": "b"})
    assert made.decision is not None
    stateful: dict[str, Any] = {"standbys": 1, "stateful": frozenset({"0_0", "0_1"}), **details}
    return attrs.evolve(made, decision=attrs.evolve(made.decision, **stateful))


def test_wanted_standbys_without_a_place_are_found_after_the_last_rebalance() -> None:
    (found,) = unusual_rebalances(past(calm()), LIMITS)
    assert (found.rule, found.sentence) == (
        "standbys without a place", "2 wanted standbys had no place on 2 instances after the last rebalance."
    )  # fmt: skip
    assert rules(past(calm(standbys=0))) == []
    assert rules(past(calm(followup="probing"))) == []
    assert rules(past(calm(), rebalance(10, A, is_same=False))) == []


def test_instance_with_more_threads_than_tasks_cannot_get_work() -> None:
    idle = {"c": InstanceShare("c", frozenset({"c-1", "c-2"}))}
    made = calm(standbys=0)
    assert made.decision is not None
    shares = {**made.decision.shares, **idle}
    (found,) = unusual_rebalances(past(calm(standbys=0, shares=shares)), LIMITS)
    assert (found.rule, found.sentence) == (
        "instance without work", "c cannot get work: 4 members for 2 tasks or jobs."
    )  # fmt: skip
    assert rules(past(calm(standbys=0, shares=shares, hands_over=True))) == []


@pytest.mark.parametrize(
    ("lags", "known"), [([90, 80, 95, 85, 90], "acceptable.recovery.lag"), ([90, 60, 30, 10, 2], None)]
)
def test_probing_loop_has_its_name_without_the_limit_if_lags_do_not_shrink(lags: list[int], known: str | None) -> None:
    chain = [
        rebalance(600 * at, A, copies=[("0_0", "b")], lag=lag, followup="probing", since_s=600, recovery_lag=10_000)
        for at, lag in enumerate(lags, 1)
    ]
    found = unusual_rebalances(past(rebalance(0, A, is_same=False), *chain), WatchLimits())
    assert [each.known for each in found] == [] if known is None else [known]


def test_nine_probing_rebalances_in_a_row_are_endless() -> None:
    chain = [rebalance(600 * at, A, followup="probing", since_s=600) for at in range(1, 10)]
    assert rules(past(rebalance(0, A, is_same=False), *chain), WatchLimits()) == ["endless follow-ups"]


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


@pytest.mark.parametrize(("rounds", "is_found"), [(2, False), (5, True)])
def test_a_connect_leader_that_stays_behind_is_found(rounds: int, is_found: bool) -> None:
    behind = ConfigMismatch(
        Moment(1_000, 2_000), Evidence.line(Place("w1.log", 3)), 7, 6 + rounds, rounds, "w1", "http://w1:8083/", 12, 16
    )
    found = unusual_rebalances(attrs.evolve(past(rebalance(0, A)), events=(behind,)), LIMITS)
    assert [(each.rule, each.generation) for each in found] == ([("config mismatch", 7)] if is_found else [])


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
        "no known cause", "endless follow-ups", "back and forth", "flapping instance", "departures of the group",
        "restarts of a static member", "tasks without owner", "outage", "poll timeout", "dead thread",
        "failed assignment", "config mismatch", "standbys without a place", "instance without work",
    ]  # fmt: skip
