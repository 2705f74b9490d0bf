"""Members that missed a join phase, and members that send no SyncGroup."""

from __future__ import annotations

from typing import Any

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.safety.known_kafka_behaviour import named
from assignor_lab.simulation.streams.safety.rules import broken_rules
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from tests.simulation.streams.episodes import document, happens, played, started, task


def missed(event: dict[str, Any], **timings: int) -> PlayedStreamsEpisode:
    """a and b are static. c joins at 61,000, the phase lasts until 81,000; b sends heartbeats at 64,000, 67,000, ..."""
    return played(
        [started("a", instance_id="a"), started("b", instance_id="b"), started("c", 60_000), event],
        [task("0_0"), task("0_1")], assignor="sticky@4.3", timings={"max_poll_interval_ms": 20_000, **timings},
    )  # fmt: skip


def said(group: PlayedStreamsEpisode, event: str, actor: str) -> list[int]:
    return [entry.time_ms for entry in group.world.log.entries if (entry.event, entry.actor) == (event, actor)]


def runs(group: PlayedStreamsEpisode, actor: str) -> list[tuple[int, str]]:
    """Starts and stops of an instance's tasks after c has joined."""
    return [
        (entry.time_ms, entry.event)
        for entry in group.world.log.entries
        if entry.actor == actor and entry.event in ("runs", "stops") and entry.time_ms > 60_000
    ]


def test_a_busy_static_member_keeps_its_place_and_loses_what_it_has_once_a_heartbeat_has_told_it() -> None:
    # Found by the fuzz: it ran on forever beside the new owner of its task.
    group = missed(happens("busy", "b", 62_500, for_ms=19_900))
    assert said(group, "missed", "b") == [81_000]
    assert said(group, "removed", "coordinator") == []
    # Its heartbeat of 82,000 returns ILLEGAL_GENERATION; free at 82,400, it joins under its old id.
    assert runs(group, "b")[:3] == [(62_500, "stops"), (82_400, "runs"), (82_400, "stops")]
    assert "joins again" in group.generations[-1].reason
    assert group.generations[-1].members == 3
    assert broken_rules(group) == []


def test_one_that_polls_before_that_heartbeat_joins_with_all_that_it_has_and_works_on_it_meanwhile() -> None:
    group = missed(happens("busy", "b", 62_500, for_ms=19_000))
    found = broken_rules(group)
    assert [each.sentence for each in found] == [
        "0_1 ran on c (thread 3) and b (thread 2) from 81500 ms to 84000 ms"
    ]  # c learns of the rebalance with its heartbeat at 84,000
    assert named(found[0], group, "sticky@4.3").known == "ILLEGAL_GENERATION"
    assert runs(group, "c")[-1] == (84_000, "stops")


def test_heartbeats_of_an_old_generation_renew_no_session() -> None:
    group = missed(happens("busy", "b", 62_500, for_ms=40_000))
    # The session began anew when the join phase ended, and lasts 10 s.
    assert said(group, "removed", "coordinator") == [91_000]
    assert group.generations[-1].members == 3
    assert broken_rules(group) == []


def test_a_process_that_stood_still_meanwhile_is_told_with_its_first_request() -> None:
    group = missed(happens("pause", "b", 61_001, for_ms=20_000), session_timeout_ms=45_000, request_ms=3)
    assert said(group, "missed", "b") == [81_000]
    assert said(group, "zombie", "b") == [81_001]
    assert runs(group, "b")[:3] == [(61_001, "stops"), (81_001, "runs"), (81_004, "stops")]
    assert {named(each, group, "sticky@4.3").known for each in broken_rules(group)} <= {"session.timeout.ms"}


def test_a_static_member_that_has_not_polled_in_time_either_comes_back_as_another_one() -> None:
    group = missed(happens("pause", "b", 62_500, for_ms=30_000), session_timeout_ms=45_000)
    assert said(group, "missed", "b") == [81_000]
    reasons = [generation.reason for generation in group.generations if generation.assigned_ms > 92_000]
    assert not any("b-StreamThread-1-consumer joins again" in reason for reason in reasons)
    assert broken_rules(group) == []


def test_a_leader_that_is_busy_before_it_decides_holds_its_group_up_no_longer_than_it_may() -> None:
    group = played(
        [started("a"), started("b"), started("c", 60_000), happens("busy", "a", 64_050, for_ms=60_000)],
        assignor="sticky@4.3", timings={"max_poll_interval_ms": 20_000, "assign_ms": 100},
    )  # fmt: skip
    # It joined at 64,000, and its heartbeats continue, but it sends no SyncGroup within 20 s.
    assert said(group, "removed", "coordinator") == [84_000]
    assert "did not send SyncGroup in time" in group.generations[1].reason
    assert [each.members for each in group.generations][1:] == [2, 3, 3]
    assert broken_rules(group) == []


def test_a_member_sends_no_heartbeats_before_it_has_seen_that_it_has_joined() -> None:
    group = played(
        [started("a"), started("b"), started("c", 60_000), happens("busy", "b", 61_015, for_ms=60_000)],
        assignor="sticky@4.3", timings={"max_poll_interval_ms": 20_000, "request_ms": 10},
    )  # fmt: skip
    # All have joined by 61,010, and b is busy when the reply comes: it is silent for a session of 10 s.
    assert said(group, "removed", "coordinator") == [71_010]
    # Its next request fails with UNKNOWN_MEMBER_ID.
    assert {named(each, group, "sticky@4.3").known for each in broken_rules(group)} == {"session.timeout.ms"}


def same_instance_id(back_ms: int, busy: dict[str, Any], **timings: int) -> PlayedStreamsEpisode:
    """a is busy from 60,500 on. Meanwhile b starts with the same instance id; it joins a second later."""
    return played(
        [started("a", instance_id="same"), busy, started("b", back_ms, instance_id="same")],
        assignor="sticky@4.3", timings={"session_timeout_ms": 45_000, **timings},
    )  # fmt: skip


def test_a_busy_member_that_another_one_has_replaced_is_fenced_when_it_polls() -> None:
    group = same_instance_id(65_000, happens("busy", "a", 60_500, for_ms=15_000))
    assert said(group, "fenced", "a") == [75_500]
    assert {named(each, group, "sticky@4.3").known for each in broken_rules(group)} <= {"FENCED_INSTANCE_ID"}


def test_one_that_has_polled_too_late_has_forgotten_its_id_and_takes_its_place_back() -> None:
    group = same_instance_id(85_000, happens("busy", "a", 60_500, for_ms=30_000), max_poll_interval_ms=20_000)
    assert said(group, "fenced", "a") == []
    # a polls at 90,500; heartbeats of b come every 3 s from 86,000 on.
    assert said(group, "joins", "a")[-1] == 90_500
    assert said(group, "fenced", "b") == [92_000]
    assert {named(each, group, "sticky@4.3").known for each in broken_rules(group)} == {"FENCED_INSTANCE_ID"}


def test_a_static_member_that_has_gone_is_kept_while_join_phases_are_shorter_than_its_session() -> None:
    # Found by the fuzz. Its claimed tasks are held back for another member, which requests the next rebalance at once.
    events = [
        started("a", instance_id="a"), started("b", 1_000, metadata_version=10), started("c", 20_000),
        happens("crash", "a", 21_000),
    ]  # fmt: skip
    made = document(events, [task("0_0"), task("0_1")], config={"num.standby.replicas": 1}, until_ms=1_500_000)
    made["changelogs"] = {
        "0_0": {"records": 50_000, "bytes_per_record": 200},
        "0_1": {"records": 1_000_000, "bytes_per_record": 20},
    }
    made["timings"] = {"max_poll_interval_ms": 20_000}
    episode = read_episode(scenario_from_document(made, Place("kept.jsonl", 1)))
    _, group = play(episode, discover(), config_sources(environ={}), "high_availability")
    assert said(group, "removed", "coordinator") == []
    assert {each.joined_ms - each.prepared_ms for each in group.generations[-60:]} == {20_000}
    found = [each for each in broken_rules(group) if each.rule == "nothing lost"]
    assert {named(each, group, "high_availability").known for each in found} == {"max.poll.interval.ms"}
