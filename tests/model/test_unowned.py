"""Times without an owner as a function of a history, from its decisions or from its members' assignments."""

from __future__ import annotations

import attrs

from assignor_lab.capture.edges.moments import DecisionMoment, Participant
from assignor_lab.capture.histories.group_histories import history_of_moments
from assignor_lab.model.decision import CLASSIC, Decision, InstanceShare, presence_change
from assignor_lab.model.events import GroupEvent, InstanceCrashed, InstanceRestartedInSession, InstanceStopped
from assignor_lab.model.evidence import Evidence
from assignor_lab.model.history import PLAYED, RECORDED, GroupHistory, GroupName
from assignor_lab.model.moment import Moment
from assignor_lab.model.unowned import MemberOwnership, unowned_by_decisions, unowned_by_members

PLAY = Evidence.played()


def decision(time_ms: int, **active: str) -> Decision:
    shares = {name: InstanceShare(name, active=tuple(tasks.split())) for name, tasks in active.items()}
    return Decision(Moment.at(time_ms), PLAY, CLASSIC, None, shares)


def history(*entries: Decision | GroupEvent, origin: str = RECORDED) -> GroupHistory:
    decisions = tuple(each for each in entries if isinstance(each, Decision))
    events = tuple(each for each in entries if isinstance(each, GroupEvent))
    return GroupHistory(GroupName("app"), origin, decisions, events, begin_ms=0, until_ms=10_000)


def test_a_task_of_a_stopped_instance_has_no_owner_until_the_next_decision() -> None:
    past = history(decision(0, a="0_0", b=""), InstanceStopped(Moment.at(2_000), PLAY, "a"), decision(5_000, b="0_0"))
    assert unowned_by_decisions(past, {"0_0": "a"}, {}) == {"0_0": [(2_000, 5_000)]}
    assert unowned_by_decisions(past, {"0_0": "a"}, {("b", "0_0"): [4_000, 7_000]}) == {"0_0": [(2_000, 7_000)]}


def test_the_same_function_reads_a_played_history() -> None:
    entries = (decision(0, a="0_0"), InstanceCrashed(Moment.at(1_000), PLAY, "a"), decision(4_000, b="0_0"))
    found = [unowned_by_decisions(history(*entries, origin=origin), {"0_0": "a"}, {}) for origin in (RECORDED, PLAYED)]
    assert found[0] == found[1] == {"0_0": [(1_000, 4_000)]}


def test_a_task_that_moves_waits_for_one_more_assignment() -> None:
    past = history(decision(0, a="0_0", b=""), decision(3_000, a="", b="0_0"), decision(4_000, a="", b="0_0"))
    assert unowned_by_decisions(past, {"0_0": "a"}, {}) == {"0_0": [(3_000, 4_000)]}


def test_a_restart_within_the_session_keeps_the_owner() -> None:
    restart = InstanceRestartedInSession(Moment(2_000, 3_500), PLAY, "a")
    past = history(decision(0, a="0_0"), restart)
    assert unowned_by_decisions(past, {"0_0": "a"}, {}) == {"0_0": [(2_000, 3_500)]}


def test_no_task_is_away_for_longer_than_the_history() -> None:
    past = history(decision(0, a="0_0"), InstanceStopped(Moment.at(1_000), PLAY, "a"))
    assert unowned_by_decisions(past, {"0_0": "a"}, {}) == {"0_0": [(1_000, 10_000)]}
    assert unowned_by_decisions(past, {}, {("a", "0_0"): [900]}) == {"0_0": [(0, 900), (1_000, 10_000)]}


def test_a_member_of_the_streams_protocol_has_a_task_from_its_own_assignment_on() -> None:
    task = frozenset({"0_0"})
    held = [
        MemberOwnership(1_000, "m1", "a", task),
        MemberOwnership(4_000, "m1", "a", frozenset()),
        MemberOwnership(4_300, "m2", "b", task),
    ]
    past = history(decision(900, a="0_0"), decision(4_000, b="0_0"))
    assert unowned_by_members(past, held) == {"0_0": [(0, 1_000), (4_000, 4_300)]}
    stopped = attrs.evolve(past, events=(InstanceStopped(Moment.at(6_000), PLAY, "b"),))
    assert unowned_by_members(stopped, held)["0_0"][-1] == (6_000, 10_000)


def test_instances_of_unknown_members_continue_and_another_process_does_not() -> None:
    unknown, other = InstanceShare("p1"), InstanceShare("p2")
    change = presence_change({"a": unknown, "b": unknown, "c": unknown}, {"d": unknown, "b": other, "a": unknown})
    assert (change.gone, change.new, change.restarted, change.stayed) == (("c",), ("d",), ("b",), ("a",))


def test_a_history_without_member_ids_shows_no_restarts() -> None:
    def moment(time_ms: int) -> DecisionMoment:
        process = Participant("p1", "app-1", frozenset())
        return DecisionMoment(time_ms, None, None, "", "none", {"p1": process}, {"p1": (("0_0",), ())})

    assert history_of_moments("app", [moment(1_000), moment(2_000)]).events == ()


def test_a_restore_counts_for_the_assignment_before_it_and_not_for_an_earlier_one() -> None:
    # The task goes to b at 2,000, back to a at 4,000, and to another thread of a at 6,000 or later.
    found = unowned_by_decisions(
        history(decision(0, a="0_0"), decision(1_000, b=""), decision(2_000, b="0_0"), decision(3_000, a=""),
                decision(4_000, a="0_0")),
        {"0_0": "a"},
        {("b", "0_0"): [2_400, 9_000], ("a", "0_0"): [4_700, 8_000]},
    )  # fmt: skip
    assert [end for _, end in found["0_0"]] == [2_400, 4_700]
