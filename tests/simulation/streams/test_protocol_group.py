"""Streams groups of KIP-1071 on the virtual clock: exact times of the broker's and the members' actions."""

from __future__ import annotations

import itertools
import json
from typing import Any

import attrs
import pytest
from typer.testing import CliRunner

from assignment_api.plugins import config_sources, discover
from assignor_lab.cli.app import build_app
from assignor_lab.groups.streams.leading import leading_assignor
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.kafka.streams_group.group import HeartbeatAnswer, StreamsGroup
from assignor_lab.kafka.streams_group.tasks import TasksByRole
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.event_log import EventEntry
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.formats.plays import document_of
from assignor_lab.simulation.streams.safety.findings import BrokenRule
from assignor_lab.simulation.streams.safety.known_kafka_behaviour import named
from assignor_lab.simulation.streams.safety.rules import broken_rules
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode, UnknownProtocolError, simulate
from assignor_lab.simulation.streams.streams_protocol.group import StaticMembersRefusedError
from assignor_lab.simulation.streams.streams_protocol.members import Reconciled, StreamsProtocolMember
from assignor_lab.simulation.streams.streams_protocol.reconciling import Reconciling
from tests.simulation.streams.episodes import document, episode, happens, played, started, task, told

#: No additions of a machine, and acknowledgements at other times than the heartbeats.
TIMINGS = {
    "streams_heartbeat_interval_ms": 3_000, "streams_session_timeout_ms": 10_000, "acknowledge_ms": 100, "leave_ms": 50,
    "acknowledge_new_ms": 100, "acknowledge_loop_ms": 100,
}  # fmt: skip


def streams(*events: dict[str, Any], timings: dict[str, int] | None = None, **more: Any) -> dict[str, Any]:
    return told(list(events), protocol="streams", timings={**TIMINGS, **(timings or {})}, **more)


def targets(told: dict[str, Any]) -> list[int]:
    return [generation["t_ms"] for generation in told["generations"]]


def interruptions(told: dict[str, Any], name: str) -> list[list[Any]]:
    intervals: list[list[Any]] = told["tasks"][name]["intervals"]
    return intervals


def test_first_target_comes_after_the_initial_delay_and_members_hear_of_it_with_their_next_heartbeat() -> None:
    found = streams(started("a"))
    assert targets(found) == [1_000 + 3_000]
    # At 1,100 the member had acknowledged its empty assignment.
    assert found["actions"][0]["until_stable_ms"] == 1_100 + 3_000


def test_second_thread_of_a_joining_process_waits_for_the_assignment_interval() -> None:
    first, second, third = targets(streams(started("a"), started("b", 10_000, threads=2)))
    assert (first, second) == (4_000, 11_000)
    # The next heartbeat of any member after at least a second.
    assert 12_000 <= third <= 11_000 + 3_000 + 100


@pytest.mark.parametrize(
    ("joins_ms", "stops"),
    [
        # No heartbeat falls into the second after the first thread's target: tasks that stay do not stop.
        (61_500, []),
        # One does: the member stops until its next heartbeat, an interval after its acknowledgement.
        (62_500, [(1_700, 4_800)]),
        # Its acknowledgement comes after that second, and calls the assignor: the group is ready again.
        (62_250, [(1_950, 2_050)]),
    ],
)
def test_a_member_stops_if_its_heartbeat_falls_into_the_assignment_interval(
    joins_ms: int, stops: list[tuple[int, int]]
) -> None:
    found = streams(started("a"), started("b", joins_ms, threads=2))
    away = [[(begin - joins_ms, end - joins_ms) for begin, end, _ in interruptions(found, name) if begin > joins_ms]
            for name in ("0_0", "0_1")]  # fmt: skip
    assert away == [stops, stops]


def test_closing_leaves_at_once() -> None:
    found = streams(started("a"), started("b", 10_000), happens("stop", "b", 60_000))
    assert found["actions"][-1]["rebalances"] == 1
    assert found["actions"][-1]["until_stable_ms"] <= 50 + 3_000


def test_closing_without_leaving_costs_the_session_timeout() -> None:
    found = streams(started("a"), started("b", 10_000), happens("stop", "b", 60_000, leave=False))
    assert 10_050 <= found["actions"][-1]["until_stable_ms"] <= 10_050 + 3_100


def test_killed_member_is_fenced_a_session_timeout_after_its_last_heartbeat() -> None:
    found = streams(started("a"), started("b", 10_000), happens("crash", "b", 60_000))
    away = [each for name in found["tasks"] for each in interruptions(found, name) if each[2] == "not_noticed"]
    assert away
    for begin, end, _ in away:
        assert begin == 60_000
        assert 7_000 <= end - begin <= 10_000


def test_topics_that_are_missing_mean_an_empty_first_target() -> None:
    """The published 6.2 s to the first task of a new application: the second heartbeat after the initial delay."""
    found = streams(
        started("a"), missing_topics=["app-store-repartition"], timings={"broker_topics_ms": 583, "metadata_ms": 0}
    )
    first, second = found["generations"]
    assert first["assigned"]["a"] == {"active": [], "standby": []}
    assert second["assigned"]["a"]["active"] == ["0_0", "0_1", "0_2", "0_3"]
    assert 6_000 <= second["t_ms"] - 1_000 <= 6_500


def test_scale_out_interrupts_what_moves_for_a_whole_restoration() -> None:
    found = streams(started("a"), started("b", 60_000), records=10_000)
    moved = [
        end - begin
        for name in found["tasks"]
        for begin, end, cause in interruptions(found, name)
        if begin > 60_000 and cause == "restoring"
    ]
    # Two tasks of ten seconds each share the thread.
    assert moved == [20_000, 20_000]


def test_static_members_are_refused_by_the_broker_of_4_3() -> None:
    with pytest.raises(StaticMembersRefusedError, match="group_sticky_4_4"):
        streams(started("a", instance_id="s"), assignor="group_sticky@4.3")


def test_assignor_of_the_other_protocol_is_refused() -> None:
    classic = leading_assignor(discover(), None, {})
    with pytest.raises(UnknownProtocolError, match="streams"):
        simulate(episode([started("a")], protocol="streams"), classic)


def test_members_have_the_ids_that_the_episode_names_for_this_start_and_drawn_ones_at_the_next() -> None:
    events = [
        started("a", member_ids=["m1"]), happens("stop", "a", 20_000), started("a", 30_000),
        happens("stop", "a", 50_000),
    ]  # fmt: skip
    log = played(events, protocol="streams", timings=TIMINGS).world.log
    left = [entry.text.partition(" ")[0] for entry in log.entries if entry.event == "removed"]
    assert left[0] == "m1"
    assert len(left[1]) == 22


@pytest.mark.slow
def test_simulate_plays_an_episode_of_the_streams_protocol(tmp_path: Any) -> None:
    file = tmp_path / "episode.jsonl"
    file.write_text(json.dumps(document([started("a")], protocol="streams")))
    result = CliRunner().invoke(build_app(), ["simulate", str(file), "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["assignor"] == "group_sticky"


def test_no_task_is_on_two_threads_at_once() -> None:
    events = [started(name, at * 4_000, threads=2) for at, name in enumerate("abcd")]
    events += [happens("crash", "b", 40_000), started("b", 47_000, threads=2), happens("stop", "c", 55_000)]
    ledger = played(
        events, protocol="streams", records=3_000, config={"num.standby.replicas": 1}, timings=TIMINGS
    ).world.ledger
    for runs in ledger.runs:
        for (_, end, _), (begin, _, _) in itertools.pairwise(runs):
            assert end is not None
            assert end <= begin


def static(*events: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Two static members under the broker of 4.4, and their events."""
    there = [started("a", instance_id="a"), started("b", 1, instance_id="b")]
    return streams(*there, *events, assignor="group_sticky_4_4", **more)


def test_static_member_of_4_4_that_is_back_within_its_session_sets_off_no_target() -> None:
    found = static(happens("stop", "b", 60_000), started("b", 62_000))
    assert [row["rebalances"] for row in found["actions"][2:]] == [0, 0]
    away = [each for name in found["tasks"] for each in interruptions(found, name) if each[0] >= 60_000]
    assert {(begin, end) for begin, end, _ in away} == {(60_000, 63_000)}


def test_static_member_of_4_4_that_stays_away_is_removed_when_its_session_ends() -> None:
    found = static(happens("stop", "b", 60_000))
    assert found["actions"][-1]["rebalances"] == 1
    assert 10_000 <= found["generations"][-1]["t_ms"] - 60_000 <= 13_100


def test_killed_static_member_is_refused_until_its_session_has_ended() -> None:
    found = static(happens("crash", "b", 60_000), started("b", 62_000))
    # Its threads end with an error; the other one gets everything.
    assert list(found["generations"][-1]["assigned"]) == ["a"]
    later = static(happens("crash", "b", 60_000), started("b", 75_000))
    assert list(later["generations"][-1]["assigned"]) == ["a", "b"]


def test_state_on_disk_gives_a_restarted_process_its_tasks_back_since_4_4() -> None:
    """KAFKA-20719: 4.3.1 gives the assignor only previous targets, and a new member has none."""
    # A later instance takes over the others' last tasks; a start of all three deals them in turn.
    events = [started(name, at * 20_000) for at, name in enumerate("abc")]
    events += [happens("stop", name, 100_000) for name in "abc"] + [started(name, 110_000) for name in "abc"]
    tasks = [task(f"0_{number}") for number in range(9)]
    read = {
        assignor: streams(*events, tasks=tasks, records=2_000, assignor=assignor)["totals"]["restored_bytes"]
        for assignor in ("group_sticky@4.3", "group_sticky_4_4")
    }
    assert read["group_sticky_4_4"] < read["group_sticky@4.3"]


def test_copy_that_is_taken_away_half_way_has_what_had_come_of_it() -> None:
    """Two tasks of 20 s each; meanwhile the second thread's standbys of them move to the first one's target."""
    found = played(
        [started("a"), started("b", 100_000), happens("stop", "b", 110_000), started("b", 111_000)],
        protocol="streams", records=20_000, config={"num.standby.replicas": 1}, timings=TIMINGS,
        tasks=[task("0_0"), task("0_1")],
    ).world  # fmt: skip
    # Nine seconds of one thread, not the whole state.
    read = sum(each.size for each in found.reads.all if each.instance == "b" and each.begun_ms < 110_000)
    assert read == 9_000_000
    assert sum(each.size for each in found.reads.all if each.instance == "b") == pytest.approx(40_000_000, rel=0.01)


@pytest.mark.parametrize("assignor", ["group_sticky@4.3", "group_sticky_4_4"])
def test_instances_that_run_at_the_beginning_go_on_with_what_they_have(assignor: str) -> None:
    first, second = (f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2))
    described = document(
        [happens("stop", first, 60_000)], [task("0_0"), task("0_1")], records=1_000, protocol="streams",
        config={"num.standby.replicas": 1}, timings=TIMINGS, assignor=assignor,
    )  # fmt: skip
    described["initial"]["clients"] = [
        {
            "process_id": process, "rack": None, "tags": {}, "host": None, "threads": 1, "consumers": [process],
            "previous_active": [active], "previous_standby": [standby], "lags": {active: -2, standby: 0},
            "previous_by_consumer": {process: [active, standby]},
        }
        for process, active, standby in ((first, "0_0", "0_1"), (second, "0_1", "0_0"))
    ]  # fmt: skip
    there = read_episode(scenario_from_document(described, Place("small.jsonl", 1)))
    name, result = play(there, discover(), config_sources(environ={}))
    found = document_of(result, name)
    begins, leaves = found["generations"]
    assert begins["assigned"] == {
        first: {"active": ["0_0"], "standby": ["0_1"]}, second: {"active": ["0_1"], "standby": ["0_0"]},
    }  # fmt: skip
    assert begins["t_ms"] <= 3_000
    assert leaves["t_ms"] - 60_050 <= 3_000
    assert interruptions(found, "0_0")[0][0] == 60_000
    assert not interruptions(found, "0_1")


def test_member_that_does_not_give_back_within_its_rebalance_timeout_is_fenced() -> None:
    # At 13,200 a learns that it must revoke two tasks; it would have done so at 13,300.
    events = [started("a"), started("b", 10_000), happens("crash", "a", 13_250)]
    slow = {"streams_session_timeout_ms": 60_000}
    early, late = (
        streams(*events, timings={**slow, "max_poll_interval_ms": timeout})["generations"][-1]["t_ms"]
        for timeout in (5_000, 300_000)
    )
    assert 18_200 <= early <= 18_200 + 3_100
    assert 73_200 <= late <= 73_200 + 3_100


def test_a_group_that_runs_already_sees_topics_that_were_missing() -> None:
    made = document([{"at_ms": 0, "type": "end_offsets_fail", "for_ms": 1}], protocol="streams", timings=TIMINGS)
    process = "00000000-0000-0000-0000-000000000001"
    made["initial"]["clients"] = [
        {
            "process_id": process, "rack": None, "tags": {}, "host": None, "threads": 1, "consumers": ["c"],
            "previous_active": [], "previous_standby": [], "lags": {}, "previous_by_consumer": None,
        }
    ]  # fmt: skip
    made["missing_topics"] = ["by-key-repartition"]
    episode = read_episode(scenario_from_document(made, Place("small.jsonl", 1)))
    group = play(episode, discover(), config_sources(environ={}))[1]
    assert group.generations[-1].assigned == {process: ((0, 1, 2, 3), ())}


@pytest.mark.slow
def test_an_acknowledgement_does_not_begin_the_interval_but_the_loop_before_it_does() -> None:
    # The member joins at 1,000 and acknowledges its empty assignment 600 ms later.
    slow = {"acknowledge_new_ms": 600}
    found = [
        streams(started("a"), timings={**slow, "acknowledge_loop_ms": loop})["actions"][0]["until_stable_ms"]
        for loop in (50, 250, 600, 5_000)
    ]
    # Its next heartbeat is the first one after the target at 4,000.
    assert found == [1_050 + 3_000, 1_250 + 3_000, 1_600 + 3_000, 1_600 + 3_000]


def test_a_session_begins_with_the_acknowledgement_all_the_same() -> None:
    # b acknowledges its assignment of 10,000 at 10,600, and is killed before its next heartbeat.
    timings = {"acknowledge_new_ms": 600, "acknowledge_loop_ms": 0}
    found = streams(started("a"), started("b", 9_000), happens("crash", "b", 10_900), timings=timings)
    removed = [each for each in found["generations"] if each["members"] == 1]
    assert 20_600 <= removed[-1]["t_ms"] < 20_600 + 3_000


@pytest.mark.slow
def test_with_nothing_to_give_up_it_makes_no_difference_how_long_that_takes() -> None:
    alone = [streams(started("a"), timings={"acknowledge_ms": each}) for each in (100, 2_000)]
    assert alone[0] == alone[1]
    quick, slow = (
        streams(started("a"), started("b", 10_000), timings={"acknowledge_ms": each})["actions"][-1]["until_stable_ms"]
        for each in (100, 2_000)
    )
    # b gets a's revoked tasks with the first heartbeat after that.
    assert slow >= quick
    assert slow > 2_000


def test_a_member_goes_through_one_assignment_after_the_other() -> None:
    """It acknowledges no newer assignment before the first one: otherwise the broker's state is outdated."""
    slow = {"acknowledge_new_ms": 20_000, "acknowledge_ms": 0, "acknowledge_loop_ms": 0}
    events = [started("a", threads=2), started("b", 10_000, threads=2), happens("stop", "b", 40_000)]
    world = streams(*events, timings=slow, config={"num.standby.replicas": 1}, until_ms=400_000)
    assert world["generations"][-1]["assigned"].keys() == {"a"}
    assert all(intervals[-1][1] < 150_000 for intervals in (interruptions(world, name) for name in world["tasks"]))


@pytest.mark.slow
def test_an_acknowledgement_of_nothing_to_give_up_is_as_far_apart_as_others_where_those_take_no_time() -> None:
    # In proportion to 0 it would never end.
    timings = {"acknowledge_ms": 0, "acknowledge_new_ms": 100, "acknowledge_spread_ms": 100}
    for seed in range(20):
        found = told([started("a")], protocol="streams", seed=seed, timings={**TIMINGS, **timings})
        assert found["actions"][0]["until_stable_ms"] <= 10_000


def test_a_busy_thread_goes_through_what_came_first_and_then_through_the_latest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Several answers while it is busy: its network thread began with the first, and takes no other in between."""
    begun: list[tuple[int, int]] = []
    told: list[int] = []
    begin, answered = Reconciling._begin, Reconciling.answered

    def is_late(self: Reconciling, member: StreamsProtocolMember) -> bool:
        return member.thread.instance.name == "b" and self._clock.now >= self._world.begin_ms + 30_000

    def counted(self: Reconciling, member: StreamsProtocolMember, new: Reconciled, news: int) -> None:
        if is_late(self, member) and member.thread.stalled_until_ms is None:
            begun.append((self._clock.now - self._world.begin_ms, len(new.tasks.active)))
        begin(self, member, new, news)

    def heard(self: Reconciling, member: StreamsProtocolMember, answer: HeartbeatAnswer) -> None:
        if is_late(self, member) and answer.tasks != member.assigned:
            told.append(len(answer.tasks.active))
        answered(self, member, answer)

    monkeypatch.setattr(Reconciling, "_begin", counted)
    monkeypatch.setattr(Reconciling, "answered", heard)
    leave = [happens("stop", name, at_ms) for name, at_ms in (("c", 31_000), ("d", 38_000), ("a", 45_000))]
    streams(*(started(name) for name in "abcd"), happens("busy", "b", 30_000, for_ms=30_000), *leave, until_ms=70_000)
    assert told == [2, 4]
    assert begun == [(60_000, told[0]), (60_100, 4)]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int | None]]:
    """Each heartbeat: its time since the first one, and its number of active tasks."""
    found: list[tuple[int, int | None]] = []
    begun: list[int] = []
    heartbeat = StreamsGroup.heartbeat

    def heard(self: StreamsGroup, now_ms: int, member: str, owned: TasksByRole | None) -> HeartbeatAnswer:
        begun.append(now_ms)
        found.append((now_ms - begun[0], None if owned is None else len(owned.active)))
        return heartbeat(self, now_ms, member, owned)

    monkeypatch.setattr(StreamsGroup, "heartbeat", heard)
    return found


def test_what_a_member_has_is_said_with_the_first_heartbeat_after_it_has_joined_and_once(
    said: list[tuple[int, int | None]],
) -> None:
    """It joins, sends a heartbeat, acknowledges that it has no tasks (already reported), begins with all; twice."""
    streams(started("a"), timings={"acknowledge_new_ms": 4_000}, until_ms=30_000)
    assert said[:5] == [(0, 0), (3_000, 0), (4_000, None), (6_000, 4), (8_000, None)]


def test_a_busy_thread_does_not_keep_its_process_from_acknowledging(said: list[tuple[int, int | None]]) -> None:
    slow = {"acknowledge_new_ms": 4_000}
    streams(started("a"), happens("busy", "a", 6_000, for_ms=20_000), timings=slow, until_ms=30_000)
    assert said[3:5] == [(6_000, 4), (8_000, None)]


def test_a_process_that_stands_still_acknowledges_when_it_goes_on(said: list[tuple[int, int | None]]) -> None:
    streams(
        started("a"), happens("pause", "a", 6_000, for_ms=4_000), timings={"acknowledge_new_ms": 4_000}, until_ms=30_000
    )
    assert said[3:5] == [(9_000, 4), (9_000, None)]


def on_two_threads(group: PlayedStreamsEpisode, assignor: str) -> list[BrokenRule]:
    return [named(each, group, assignor) for each in broken_rules(group) if each.rule == "one owner"]


@pytest.mark.parametrize("third_ms", [9_500, 10_000, 11_000, 12_000])
@pytest.mark.parametrize("acknowledge_new_ms", [2_000, 4_000, 6_000])
def test_nothing_is_given_away_by_an_acknowledgement_that_comes_late(acknowledge_new_ms: int, third_ms: int) -> None:
    """Found by the fuzz (seeds 1,925,293 and 2,004,482): a member runs a task that it lacks in the broker's state."""
    group = played(
        [started("a"), started("b", 3_311), started("c", third_ms)],
        [task(f"0_{number}", stateful=False) for number in range(6)],
        protocol="streams", assignor="group_sticky_4_4", until_ms=100_000,
        timings={**TIMINGS, "acknowledge_new_ms": acknowledge_new_ms, "acknowledge_loop_ms": 0},
    )  # fmt: skip
    assert on_two_threads(group, "group_sticky_4_4") == []


def overtaken(acknowledge_new_ms: int) -> tuple[PlayedStreamsEpisode, list[EventEntry]]:
    """b is busy when it gets a's tasks, then c's; x has joined when b acknowledges the first ones."""
    group = played(
        [
            started("a"), started("b"), started("c"), happens("busy", "b", 20_000, for_ms=15_000),
            happens("stop", "a", 21_000), happens("stop", "c", 27_300), started("x", 33_400),
        ],
        [task(f"0_{number}", stateful=False) for number in range(7)],
        protocol="streams", assignor="group_sticky@4.3", until_ms=100_000,
        timings={**TIMINGS, "acknowledge_new_ms": acknowledge_new_ms},
    )  # fmt: skip
    return group, [each for each in group.world.log.entries if each.event == "overtaken"]


def test_an_acknowledgement_of_what_came_before_gives_away_what_was_told_since_as_kafka_does() -> None:
    group, (entry,) = overtaken(2_000)
    assert (entry.actor, entry.time_ms, entry.tasks) == ("b", 37_000, ["0_4", "0_5", "0_6"])
    found = on_two_threads(group, "group_sticky@4.3")
    assert [each.task for each in found] == ["0_4", "0_5", "0_6"]
    assert {(each.begin_ms, each.end_ms, each.known) for each in found} == {
        (37_500, 39_000, "CurrentAssignmentBuilder")
    }
    # Other faults of that task, and other faults at that time, have no such name.
    for other in ({"task": "0_3"}, {"end_ms": 39_001}, {"begin_ms": 36_999}, {"threads": (1, 3)}, {"rule": "fenced"}):
        assert named(attrs.evolve(found[0], known="", **other), group, "group_sticky@4.3").known == ""


def test_a_heartbeat_that_comes_between_gives_away_what_the_member_never_begins_with() -> None:
    """The heartbeat at 37,000 reports its tasks; its assignment is smaller again at the acknowledgement at 39,000."""
    group, (entry,) = overtaken(4_000)
    assert entry.time_ms == 37_000
    assert on_two_threads(group, "group_sticky@4.3") == []


@pytest.mark.parametrize("rebalance_ms", [20_000, 300_000])
def test_a_static_member_that_leaves_for_a_while_gives_back_what_it_had_to_and_keeps_its_place(
    rebalance_ms: int,
) -> None:
    """It must revoke 0_4 from 36,000 ms on, and is closed before it reports that; its session has run since then."""
    group = played(
        [started("a", instance_id="a"), started("b", 200), started("c", 30_000), happens("stop", "a", 36_150)],
        [task(f"0_{number}", stateful=False) for number in range(6)],
        protocol="streams", assignor="group_sticky_4_4", until_ms=100_000,
        timings={
            "acknowledge_ms": 500, "acknowledge_new_ms": 100, "acknowledge_loop_ms": 0, "leave_ms": 0,
            "broker_topics_ms": 0, "max_poll_interval_ms": rebalance_ms,
        },
    )  # fmt: skip
    entries = group.world.log.entries
    given = [each for each in entries if each.event == "given" and each.actor == "c"]
    assert [(each.time_ms, each.active) for each in given][2:3] == [(41_000, ["0_4", "0_5"])]
    assert [each.time_ms for each in entries if each.event == "removed"] == [81_000]


@pytest.mark.parametrize(("for_ms", "told_ms"), [(100, 36_200), (5_000, 38_000)])
def test_a_process_that_stood_still_sends_a_heartbeat_if_one_is_due(for_ms: int, told_ms: int) -> None:
    """Its timer continues: after a short pause the next heartbeat comes at its regular time."""
    group = played(
        [started("a"), started("b", 200), started("c", 30_500), happens("pause", "b", 33_000, for_ms=for_ms)],
        [task(f"0_{number}", stateful=False) for number in range(4)],
        protocol="streams", assignor="group_sticky_4_4", until_ms=60_000,
        timings={
            "acknowledge_ms": 100, "acknowledge_new_ms": 100, "acknowledge_loop_ms": 0, "leave_ms": 0,
            "broker_topics_ms": 0,
        },
    )  # fmt: skip
    given = [each.time_ms for each in group.world.log.entries if each.event == "given" and each.actor == "b"]
    assert given[-1] == told_ms


#: These events take effect to the millisecond.
AT_ONCE = {
    "acknowledge_ms": 100, "acknowledge_new_ms": 100, "acknowledge_loop_ms": 0, "leave_ms": 0, "broker_topics_ms": 0,
}  # fmt: skip


def targets_of(group: PlayedStreamsEpisode) -> list[int]:
    return [each.assigned_ms - group.world.begin_ms for each in group.generations]


def test_the_initial_delay_of_a_group_that_was_emptied_goes_on() -> None:
    """Kafka schedules its end only if none is scheduled (``timer.scheduleIfAbsent``)."""
    group = played(
        [started("a"), happens("stop", "a", 2_500), started("b", 2_500)], protocol="streams",
        assignor="group_sticky_4_4", timings={**AT_ONCE, "streams_initial_rebalance_delay_ms": 3_000}, until_ms=30_000,
    )  # fmt: skip
    assert targets_of(group) == [4_000]


@pytest.mark.parametrize(("assignor", "second_ms"), [("group_sticky@4.3", 19_000), ("group_sticky_4_4", 5_000)])
def test_the_assignment_interval_of_an_emptied_group_counts_for_4_3_and_not_for_4_4(
    assignor: str, second_ms: int
) -> None:
    group = played(
        [started("a"), happens("stop", "a", 3_000), started("b", 4_000)], protocol="streams", assignor=assignor,
        timings={**AT_ONCE, "streams_initial_rebalance_delay_ms": 0, "assignment_interval_ms": 15_000},
        until_ms=60_000,
    )  # fmt: skip
    first, second = targets_of(group)
    assert first == 1_000
    # With 4.3 it is b's first heartbeat after 16,000 ms.
    assert second_ms <= second < second_ms + 5_000


def test_the_end_of_the_initial_delay_waits_for_the_assignment_interval_too() -> None:
    group = played(
        [started("a"), happens("stop", "a", 10_000), started("b", 11_000)], protocol="streams",
        assignor="group_sticky@4.3",
        timings={**AT_ONCE, "streams_initial_rebalance_delay_ms": 3_000, "assignment_interval_ms": 15_000},
        until_ms=60_000,
    )  # fmt: skip
    first, second = targets_of(group)
    assert first == 4_000
    assert 19_000 <= second < 24_100


@pytest.mark.parametrize(
    ("settings", "targets"),
    [({"rack": "r1"}, 1), ({}, 1), ({"rack": "r2"}, 2), ({"rack": "r1", "tags": {"zone": "z"}}, 2)],
)
def test_a_static_member_that_is_back_in_another_rack_asks_for_a_target(settings: dict[str, Any], targets: int) -> None:
    """A missing rack means the previous one; tags are always sent."""
    group = played(
        [
            started("a", instance_id="a", rack="r1"), started("b", 100), happens("stop", "a", 30_000),
            started("a", 35_000, instance_id="a", **settings),
        ],
        protocol="streams", assignor="group_sticky_4_4", timings=AT_ONCE, until_ms=60_000,
    )  # fmt: skip
    assert len(targets_of(group)) == targets


def test_an_acknowledgement_waits_for_the_answer_that_is_on_its_way(said: list[tuple[int, int | None]]) -> None:
    """One request at a time: the reply to the heartbeat of 3,000 comes a second later."""
    streams(started("a"), timings={"request_ms": 1_000, "acknowledge_new_ms": 2_500}, until_ms=30_000)
    # At 3,500 it has processed its first reply, of 1,000; the reply at 4,000 is new, and is processed instead.
    assert said[:4] == [(0, 0), (3_000, 0), (6_000, 4), (7_000, None)]
