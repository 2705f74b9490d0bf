"""Suspended processes and busy threads: exact moments, in both protocols."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from assignor_lab.scenarios import DocumentFormatError
from assignor_lab.simulation.streams.safety.known_kafka_behaviour import named
from assignor_lab.simulation.streams.safety.rules import broken_rules
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from tests.simulation.streams.episodes import episode, happens, played, started, task

#: Heartbeats of both come every 3 s from 7,000 on in the classic protocol.
TWO = [started("a"), started("b")]
STREAMS = {
    "streams_heartbeat_interval_ms": 3_000, "streams_session_timeout_ms": 10_000, "acknowledge_ms": 100, "leave_ms": 50,
    "acknowledge_new_ms": 100, "acknowledge_loop_ms": 100,
}  # fmt: skip


def classic(*events: dict[str, Any], **more: Any) -> PlayedStreamsEpisode:
    return played([*TWO, *events], assignor="sticky@4.3", **more)


def streams(*events: dict[str, Any], timings: dict[str, int] | None = None, **more: Any) -> PlayedStreamsEpisode:
    settings = {**STREAMS, **(timings or {})}
    return played([*TWO, *events], protocol="streams", assignor="group_sticky_4_4", timings=settings, **more)


def said(group: PlayedStreamsEpisode, event: str) -> list[tuple[int, str]]:
    return [(entry.time_ms, entry.actor) for entry in group.world.log.entries if entry.event == event]


def away(group: PlayedStreamsEpisode, after_ms: int) -> set[tuple[int, int, str]]:
    """Intervals in which tasks were away after a moment: begin, end, cause."""
    begin = group.world.begin_ms
    return {
        (since - begin, to - begin, cause)
        for intervals in group.world.ledger.intervals
        for since, to, cause in intervals
        if since - begin >= after_ms
    }


@pytest.mark.parametrize("play", [classic, streams])
def test_a_process_that_is_back_within_its_session_goes_on_with_what_it_had(play: Any) -> None:
    group = play(happens("pause", "b", 60_500, for_ms=5_000))
    assert away(group, 60_000) == {(60_500, 65_500, "not_noticed")}
    assert said(group, "removed") == []
    assert broken_rules(group) == []


def test_a_process_that_stands_still_for_longer_is_removed_and_joins_again_when_it_hears_of_it() -> None:
    group = classic(happens("pause", "b", 60_500, for_ms=30_000), timings={"request_ms": 3, "output_ms": 0})
    # The last heartbeat came at 58,000 or at 60,000: the session ends 10 s later.
    (removed,) = said(group, "removed")
    assert 58_000 <= removed[0] - 10_000 <= 60_500
    assert said(group, "zombie") == [(90_500, "b")]
    assert [at_ms for at_ms, actor in said(group, "joins") if actor == "b"][-1] == 90_503
    owners = {runs[-1][2] for runs in group.world.ledger.runs}
    assert owners == {"a", "b"}
    # For those 3 ms it processes another member's task: Kafka's own behaviour.
    found = broken_rules(group)
    assert {each.rule for each in found} == {"one owner", "fenced"}
    assert {named(each, group, "sticky@4.3").known for each in found} == {"session.timeout.ms"}


def test_a_streams_group_fences_it_and_takes_it_back_under_its_old_id() -> None:
    group = streams(happens("pause", "b", 60_500, for_ms=30_000))
    (removed,) = said(group, "removed")
    assert 57_000 <= removed[0] - 10_000 <= 60_500
    joins = [entry.text for entry in group.world.log.entries if entry.event == "joins" and entry.actor == "b"]
    assert len(joins) == 2
    assert joins[0] == joins[1]
    assert [generation.members for generation in group.generations][-2:] == [1, 2]
    assert {runs[-1][2] for runs in group.world.ledger.runs} == {"a", "b"}


@pytest.mark.parametrize("play", [classic, streams])
def test_a_busy_thread_holds_its_own_tasks_up_alone(play: Any) -> None:
    group = play(happens("busy", "b", 60_500, for_ms=50_000), timings={"max_poll_interval_ms": 60_000})
    # Its background heartbeats continue, so five sessions change nothing.
    assert away(group, 60_000) == {(60_500, 110_500, "not_noticed")}
    assert said(group, "removed") == []


@pytest.mark.parametrize(("play", "removed_ms"), [(classic, 80_500), (streams, 82_200)])
def test_a_thread_that_does_not_poll_in_time_leaves_and_joins_again(play: Any, removed_ms: int) -> None:
    """Under the streams protocol its network thread checks at the next heartbeat."""
    group = play(happens("busy", "b", 60_500, for_ms=50_000), timings={"max_poll_interval_ms": 20_000})
    assert said(group, "removed")[0][0] == removed_ms
    assert [at_ms for at_ms, actor in said(group, "joins") if actor == "b"][-1] == 110_500
    assert {cause for since, _, cause in away(group, 60_000) if since == 60_500} == {"not_noticed"}
    assert max(to for _, to, cause in away(group, 60_000) if cause == "not_noticed") == removed_ms
    assert broken_rules(group) == []


def test_a_poll_before_the_heartbeat_keeps_a_member_of_the_streams_protocol() -> None:
    group = streams(happens("busy", "b", 60_500, for_ms=20_500), timings={"max_poll_interval_ms": 20_000})
    assert said(group, "removed") == []
    assert said(group, "late") == []


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_a_static_member_that_does_not_poll_in_time_stays_until_its_session_ends(protocol: str) -> None:
    static = [started("a", instance_id="a"), started("b", instance_id="b")]
    back = happens("busy", "b", 60_500, for_ms=25_000)
    stays = happens("busy", "b", 60_500, for_ms=60_000)
    short, long_ = (
        played(
            [*static, event], assignor={"classic": "sticky@4.3", "streams": "group_sticky_4_4"}[protocol],
            protocol=protocol, timings={**STREAMS, "max_poll_interval_ms": 20_000},
        )
        for event in (back, stays)
    )  # fmt: skip
    # It is back 5 s after its due poll, within its session: no other member gets its tasks.
    assert len(short.generations) == 1
    assert 90_500 - 3_000 <= said(long_, "removed")[0][0] <= 90_500


def test_a_join_phase_waits_for_a_busy_thread_no_longer_than_it_may_be_busy() -> None:
    group = classic(
        happens("busy", "b", 60_500, for_ms=50_000), started("c", 60_500), timings={"max_poll_interval_ms": 20_000}
    )
    # c joins at 61,500; the group waits for b until it leaves, 20 s after its last poll.
    assert [each.assigned_ms - group.world.begin_ms for each in group.generations if each.members == 2][-1] == 80_500
    assert broken_rules(group) == []


@pytest.mark.slow
def test_what_is_restored_waits_while_its_process_stands_still_and_goes_on_beside_a_busy_thread() -> None:
    one: dict[str, Any] = {"records": 20_000, "tasks": [task("0_0")]}
    # 20 MB at 1 MB per second, from 4,000 on.
    plain, paused, busy = (
        played([started("a"), *events], **one).world.ledger.intervals[0][-1][1]
        for events in (
            [], [happens("pause", "a", 10_000, for_ms=5_000)], [happens("busy", "a", 10_000, for_ms=5_000)],
        )
    )  # fmt: skip
    assert (paused - plain, busy - plain) == (5_000, 0)


@pytest.mark.slow
def test_a_process_that_is_killed_while_it_stands_still_is_noticed_as_if_it_had_died_before() -> None:
    group = classic(happens("pause", "b", 60_500, for_ms=60_000), happens("crash", "b", 64_000))
    only_paused = classic(happens("pause", "b", 60_500, for_ms=60_000))
    assert said(group, "removed") == said(only_paused, "removed")[:1]
    assert broken_rules(group) == []


@pytest.mark.parametrize("kind", ["stop", "pause", "busy"])
def test_what_cannot_happen_to_a_stalled_instance_is_refused_with_its_place(kind: str) -> None:
    details = {} if kind == "stop" else {"for_ms": 1_000}
    with pytest.raises(DocumentFormatError, match=r"events\[3\].at_ms.*stalled until 70500"):
        episode([*TWO, happens("pause", "b", 60_500, for_ms=10_000), happens(kind, "b", 70_500, **details)])


def told_while_busy(from_ms: int, **timings: int) -> PlayedStreamsEpisode:
    """The result of a join phase reaches b some 30 ms after 61,000, when the next one begins; b is busy then."""
    return classic(
        started("c", 60_000), happens("busy", "b", from_ms, for_ms=20_000),
        timings={"max_poll_interval_ms": 20_000, "request_ms": 10, **timings},
    )  # fmt: skip


def test_a_thread_that_goes_on_just_before_the_join_phase_ends_joins_at_once() -> None:
    # Its background heartbeats have reported the rebalance. It waited for the next one, and was lost forever.
    group = told_while_busy(61_025)
    assert said(group, "removed") == []
    assert group.generations[-1].members == 3
    assert broken_rules(group) == []


def test_a_member_that_the_join_phase_removed_hears_of_it_with_its_next_request() -> None:
    group = told_while_busy(61_040, poll_ms=10)
    (removed,) = [at_ms for at_ms, _ in said(group, "removed")]
    assert removed == 81_040
    back = [at_ms for at_ms, actor in said(group, "joins") if actor == "b" and at_ms >= removed]
    assert len(back) == 1
    assert removed <= back[0] <= removed + 3_000
    assert {named(each, group, "sticky@4.3").known for each in broken_rules(group)} <= {"session.timeout.ms"}
    assert group.generations[-1].members == 3


def test_an_instance_that_a_roll_has_started_again_is_not_started_twice() -> None:
    # Found by the fuzz: b takes a's instance id. So a is fenced and closes, and b is rolled at once. b is down at its
    # crash and up at its start: it ran every task in two processes at once.
    group = played(
        [
            started("a", instance_id="same"), started("b", 633_000, instance_id="same"),
            {"at_ms": 638_000, "type": "rolling_restart", "down_ms": 13_870, "every_ms": 90_000},
            happens("crash", "b", 644_000), started("b", 1_962_000),
        ],
        assignor="sticky@4.3", until_ms=2_500_000,
    )  # fmt: skip
    assert [at_ms for at_ms, actor in said(group, "start") if actor == "b"] == [633_000, 651_870]
    assert {named(each, group, "sticky@4.3").known for each in broken_rules(group)} <= {"FENCED_INSTANCE_ID"}


def test_who_was_removed_keeps_its_copies_open() -> None:
    # TaskManager.handleLostAll closes only active tasks.
    events = [started("a", threads=1), started("b", threads=1), happens("pause", "b", 30_000, for_ms=15_000)]
    result = played(events, config={"num.standby.replicas": 1}, assignor="sticky@4.3")
    given = [each for each in result.world.log.entries if each.event == "given" and each.actor == "b"]
    assert given[-1].standby
    assert [] in [each.active for each in given[1:]]
    assert all(each.standby for each in given)


def test_with_exactly_once_what_was_restored_is_kept_by_who_was_removed() -> None:
    events = [started("a", threads=1), happens("pause", "a", 30_000, for_ms=15_000)]
    read = [
        played(events, records=20_000, assignor="sticky@4.3", eos=eos).world.reads.restored() for eos in (False, True)
    ]
    assert read == [80_000_000, 80_000_000]


@pytest.mark.slow
def test_a_copy_that_a_removed_thread_keeps_beside_an_active_task_is_kafkas_own() -> None:
    group = played(
        [
            started("a", threads=2, instance_id="a"), started("b", threads=2), started("c", threads=1),
            happens("busy", "a", 20_000, for_ms=60_000, thread=1), happens("stop", "c", 32_000),
            happens("stop", "b", 33_000),
        ],
        assignor="sticky@4.3", config={"num.standby.replicas": 1}, until_ms=300_000,
        timings={"max_poll_interval_ms": 20_000},
    )  # fmt: skip
    found = [named(each, group, "sticky@4.3") for each in broken_rules(group)]
    assert {(each.rule, each.known) for each in found} == {("no standby beside its active", "session.timeout.ms")}
    kept = [each for each in group.world.log.entries if each.event == "given" and each.is_over]
    assert [(each.actor, each.active, bool(each.standby)) for each in kept] == [("a", [], True)]
    # Its next assignment as a member ends that.
    later = attrs.evolve(found[0], known="", begin_ms=200_000, end_ms=250_000)
    assert named(later, group, "sticky@4.3").known == ""
