"""A classic Streams group on the virtual clock, with a machine that adds no time."""

from __future__ import annotations

import json

import pytest

from assignor_lab.simulation.streams.actions import action_name
from tests.simulation.streams.episodes import happens, played, started, task, told

TWO = [started("a", threads=1), started("b", threads=1)]


def generations(result: dict[str, object]) -> list[tuple[int, str]]:
    return [(each["t_ms"], each["followup"]) for each in result["generations"]]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_new_group_waits_once_more_for_whoever_came_in_the_initial_delay() -> None:
    alone, both = told([started("a")]), told(TWO)
    assert alone["generations"][0]["assignment_t_ms"] == 1_000 + 3_000
    assert both["generations"][0]["assignment_t_ms"] == 1_000 + 6_000


def test_a_kill_is_noticed_a_session_after_the_last_heartbeat_and_the_others_hear_of_it_with_their_next() -> None:
    result = told([*TWO, happens("crash", "b", 20_500)], assignor="sticky@4.3")
    # Complete at 7 s, so heartbeats come at 10, 13, 16, 19 s. The session ends at 29, and a's next one is at 31.
    assert generations(result)[-1] == (29_000, "none")
    assert result["generations"][-1]["assignment_t_ms"] == 31_000
    lost = [task for task in result["tasks"].values() if len(task["intervals"]) > 2]
    assert [each["intervals"][-2:] for each in lost] == [
        [[20_500, 29_000, "not_noticed"], [29_000, 31_000, "rebalance"]]
    ] * 2


def test_closing_does_not_leave_the_group_unless_it_is_asked_to() -> None:
    stays = told([*TWO, happens("stop", "b", 20_000)], assignor="sticky@4.3")
    leaves = told([*TWO, happens("stop", "b", 20_000, leave=True)], assignor="sticky@4.3")
    assert generations(stays)[-1] == (30_000, "none")
    assert generations(leaves)[-1] == (20_000, "none")


def test_a_restarted_dynamic_member_waits_for_the_old_one_to_be_removed() -> None:
    events = [*TWO, happens("stop", "b", 20_000), started("b", 20_000)]
    result = told(events, assignor="sticky@4.3")
    assert [each["t_ms"] for each in result["generations"]] == [1_000, 21_000]
    assert result["generations"][-1]["assignment_t_ms"] == 30_000


def test_a_static_member_that_is_back_within_its_session_sets_off_no_rebalance() -> None:
    static = [started("a", instance_id="a"), started("b", instance_id="b")]
    result = told([*static, happens("stop", "b", 20_000), started("b", 22_000)], assignor="sticky@4.3")
    assert len(result["generations"]) == 1
    back = [task["intervals"][-1] for task in result["tasks"].values() if len(task["intervals"]) > 2]
    assert back == [[20_000, 23_000, "not_noticed"]] * 2


def test_a_static_member_that_stays_away_is_removed_when_its_session_ends() -> None:
    static = [started("a", instance_id="a"), started("b", instance_id="b")]
    result = told([*static, happens("stop", "b", 20_000)], assignor="sticky@4.3")
    assert generations(result)[-1] == (30_000, "none")


def test_a_static_member_that_is_asked_to_leaves() -> None:
    # AbstractCoordinator.shouldSendLeaveGroupRequest of 4.3.1: LEAVE_GROUP is for static members, too (KIP-1092).
    static = [started("a", instance_id="a"), started("b", instance_id="b")]
    result = told([*static, happens("stop", "b", 20_000, leave=True)], assignor="sticky@4.3")
    assert generations(result)[-1] == (20_000, "none")


def test_who_is_closed_while_it_waits_to_join_stays_for_a_session_after_the_join_phase() -> None:
    # c gets a task of a. a gives it up at 22 s, rejoins at once and waits for the others until 25 s.
    events = [*TWO, started("c", 20_500, threads=1), happens("stop", "a", 23_500)]
    result = told(events, assignor="sticky@4.3")
    assert [each["t_ms"] for each in result["generations"]] == [1_000, 21_500, 22_000, 35_000]


def test_a_leader_that_is_closed_while_it_waits_to_join_assigns_before_it_ends() -> None:
    # a gives up a task at 22 s, rejoins at once and waits for b until 25 s.
    events = [started("a", threads=1), started("b", 1_500, threads=1), started("c", 20_500, threads=1)]
    result = told([*events, happens("stop", "a", 23_500)], assignor="sticky@4.3")
    assert [each["assignment_t_ms"] for each in result["generations"]] == [7_000, 22_000, 25_000, 37_000]
    assert result["generations"][-1]["t_ms"] == 35_000
    (moved,) = result["generations"][2]["assigned"]["c"]["active"]
    assert result["tasks"][moved]["intervals"][-1] == [22_000, 25_000, "revoked"]


def test_who_gives_tasks_up_while_it_is_closed_joins_once_more() -> None:
    # The group rebalances for c; a is closed while it waits, and must give up a task.
    events = [started("a", threads=1), started("b", 1_500, threads=1), started("c", 20_500, threads=1)]
    result = told([*events, happens("stop", "b", 21_800)], assignor="sticky@4.3", until_ms=300_000)
    assert [each["members"] for each in result["generations"]][-1] == 2
    assert all(each["intervals"][-1][1] < 60_000 for each in result["tasks"].values())


@pytest.mark.slow
def test_an_initial_phase_lasts_as_long_as_members_may_take_to_join() -> None:
    events = [started(f"i{number}", number * 2_500, threads=1) for number in range(40)]
    result = told(events, assignor="sticky@4.3")
    assert generations(result) == [(1_000, "none")]
    assert result["generations"][0]["assignment_t_ms"] == 103_000
    first = told(events, assignor="sticky@4.3", timings={"max_poll_interval_ms": 10_000})["generations"][0]
    assert first["assignment_t_ms"] == 11_000


def test_an_emptied_group_is_a_generation_of_its_own() -> None:
    events = [started("a"), happens("stop", "a", 20_000), started("a", 60_000)]
    result = told(events, assignor="sticky@4.3")
    assert [each["generation"] for each in result["generations"]] == [1, 3]


def test_with_exactly_once_commits_renew_no_session() -> None:
    # The latest heartbeat before the orderly close at 21.9 s came at 19 s.
    events = [started("a", threads=1), started("b", 1, threads=1), happens("stop", "b", 21_900)]
    begun = [told(events, assignor="sticky@4.3", eos=eos)["generations"][-1]["t_ms"] for eos in (False, True)]
    assert begun == [31_900, 29_000]


def test_a_commit_renews_the_session_of_who_is_killed() -> None:
    # The latest heartbeat before 21.9 s came at 19 s, the latest commit at 21.801 s.
    events = [started("a", threads=1), started("b", 1, threads=1), happens("crash", "b", 21_900)]
    often = {"commit_interval_ms": 100}
    begun = [
        told(events, assignor="sticky@4.3", timings=often, eos=eos)["generations"][-1]["t_ms"] for eos in (False, True)
    ]
    assert begun == [31_801, 29_000]


def test_a_task_moves_in_two_generations_and_is_away_between_them() -> None:
    events = [started("a", threads=1), started("b", 20_000, threads=1)]
    result = told(events, assignor="sticky@4.3", timings={"rejoin_ms": 30})
    assert [each["followup"] for each in result["generations"]] == ["none", "immediate", "none"]
    first, second = result["generations"][1:]
    moved = second["assigned"]["b"]["active"]
    assert len(moved) == 2
    for name in moved:
        assert result["tasks"][name]["intervals"][-1] == [
            first["assignment_t_ms"], second["assignment_t_ms"], "revoked",
        ]  # fmt: skip


def test_the_second_generation_waits_for_those_who_have_nothing_to_revoke_until_their_next_heartbeat() -> None:
    events = [started("a", threads=1), started("b", threads=1), started("c", 20_000, threads=1)]
    tasks = [task(f"0_{number}") for number in range(3)]
    spare = told(events, tasks=[*tasks, task("0_3")], assignor="sticky@4.3")
    # One of the two old members gives up a task; the other learns of it 3 s after the previous generation.
    prepared, given = spare["generations"][-2:]
    assert given["assignment_t_ms"] - prepared["assignment_t_ms"] == 3_000
    everybody = told([started("a", threads=1), started("b", 20_000, threads=1)], assignor="sticky@4.3")
    prepared, given = everybody["generations"][-2:]
    assert given["assignment_t_ms"] - prepared["assignment_t_ms"] == 0


def test_warm_ups_end_with_the_probing_rebalance_after_they_have_caught_up() -> None:
    events = [started("a", threads=1), started("b", 300_000, threads=1)]
    config = {"probing.rebalance.interval.ms": 60_000, "acceptable.recovery.lag": 100}
    result = told(events, records=50_000, config=config)
    # 50 MB take 50 s, and two of them share the thread: 100 s.
    probing = [each for each in result["generations"] if each["followup"] == "probing"]
    assert len(probing) == 2
    assert probing[1]["t_ms"] - probing[0]["assignment_t_ms"] == 60_000
    assert [each["assigned"]["b"]["active"] for each in result["generations"][1:]] == [[], [], *[["0_1", "0_3"]] * 2]
    assert result["totals"]["warmups"] == 2
    assert result["totals"]["restored_bytes"] == 6 * 50_000 * 1_000


def test_an_assignment_that_asks_for_no_probing_forgets_the_one_before() -> None:
    config = {"probing.rebalance.interval.ms": 60_000, "acceptable.recovery.lag": 100}
    events = [started("a"), started("b", 300_000), happens("stop", "b", 330_000, leave=True)]
    result = told(events, records=50_000, config=config)
    assert [each["followup"] for each in result["generations"][-2:]] == ["probing", "none"]
    assert result["generations"][-1]["t_ms"] == 330_000


def test_an_orderly_close_keeps_state_and_a_kill_loses_what_was_never_on_the_disk() -> None:
    closed = told([started("a"), happens("stop", "a", 100_000), started("a", 120_000)], records=10_000)
    killed = told([started("a"), happens("crash", "a", 100_000), started("a", 120_000)], records=10_000)
    assert closed["totals"]["restored_bytes"] == 4 * 10_000 * 1_000
    assert killed["totals"]["restored_bytes"] == 2 * 4 * 10_000 * 1_000


def test_a_disk_that_is_lost_has_to_be_restored() -> None:
    events = [started("a"), happens("stop", "a", 100_000), happens("lose_disk", "a", 110_000), started("a", 120_000)]
    result = told(events, records=10_000)
    assert result["totals"]["restored_bytes"] == 2 * 4 * 10_000 * 1_000


def test_end_offsets_that_cannot_be_fetched_lead_to_kafkas_fallback_and_another_rebalance() -> None:
    config = {"probing.rebalance.interval.ms": 60_000}
    failing = {"at_ms": 0, "type": "end_offsets_fail", "for_ms": 30_000}
    result = told([failing, started("a")], config=config)
    assert generations(result) == [(1_000, "probing"), (64_000, "none")]


def test_the_leader_joins_again_when_the_topics_that_it_created_are_there() -> None:
    result = told([started("a")], missing_topics=["small-by-city-repartition"], timings={"metadata_ms": 600})
    assert [each["reason"] for each in result["generations"]][1].endswith("cached metadata has changed")


def test_a_rolling_restart_restarts_one_after_the_other() -> None:
    roll = {"at_ms": 60_000, "type": "rolling_restart", "down_ms": 1_000, "every_ms": 30_000}
    result = told([*TWO, roll], assignor="sticky@4.3")
    assert [(each["t_ms"], each["action"], each["who"]) for each in result["actions"][2:]] == [
        (60_000, "stop", "a"), (61_000, "start", "a"), (90_000, "stop", "b"), (91_000, "start", "b"),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("assignor", ["high_availability", "sticky@4.3"])
def test_equal_input_and_seed_give_equal_results(assignor: str) -> None:
    events = [*TWO, started("c", 30_000), happens("crash", "a", 100_000)]
    timings = {"startup_spread_ms": 900}
    once, again, other = (
        json.dumps(told(events, records=100, assignor=assignor, seed=seed, timings=timings)) for seed in (1, 1, 2)
    )
    assert once == again
    assert once != other


def test_of_two_instances_with_one_instance_id_the_first_closes_with_its_next_heartbeat() -> None:
    group = played([started("a", instance_id="s"), started("b", 60_500, instance_id="s")])
    # b joins at 61,500; heartbeats of a come every 3 s from its join at 4,000 on, the next one at 64,000.
    (fenced,) = [entry.time_ms for entry in group.world.log.entries if entry.event == "fenced"]
    assert fenced == 64_000
    begin = group.world.begin_ms
    assert [(end - begin, who) for _, end, who in group.world.ledger.runs[0] if end] == [(fenced, "a"), (600_000, "b")]
    assert sum(to - since for since, to, _ in group.world.ledger.intervals[0]) == 4_000


def test_what_was_fenced_is_stopped_by_no_later_event() -> None:
    events = [
        started("a", instance_id="s"), started("b", 60_500, instance_id="s"), happens("crash", "a", 90_000),
        started("a", 120_000, instance_id="other"), happens("stop", "a", 200_000),
    ]  # fmt: skip
    group = played(events)
    assert [action_name(action) for action in group.actions] == ["start", "start", "crash", "start", "stop"]
    assert sum(entry.event == "stop" for entry in group.world.log.entries) == 2


def test_a_member_hears_of_a_rebalance_that_began_while_its_assignment_was_on_its_way() -> None:
    # The assignment leaves at 4,050 and arrives at 4,100; b joins in between.
    found = told([started("a"), started("b", 3_075)], timings={"request_ms": 50})
    assert found["generations"][1]["assignment_t_ms"] < 10_000


def test_of_three_instances_with_one_instance_id_the_last_works_on_the_tasks_when_both_others_have_heard() -> None:
    same = [started(name, at_ms, instance_id="s") for name, at_ms in (("a", 0), ("b", 60_500), ("c", 60_600))]
    group = played(same, tasks=[task("0_0")])
    begin = group.world.begin_ms
    # a learns of b at 64,000; b has run the task since 61,500 and learns of c at 64,500.
    assert [(since - begin, end - begin, who) for since, end, who in group.world.ledger.runs[0] if end] == [
        (4_000, 64_000, "a"), (64_000, 64_500, "b"), (64_500, 600_000, "c"),
    ]  # fmt: skip
    assert sum(to - since for since, to, _ in group.world.ledger.intervals[0]) == 4_000


def test_a_static_member_that_is_back_at_another_host_has_everybody_told() -> None:
    """Its old assignment has the old host: it rejoins, as Kafka's assignor requests."""
    static = [started("a", instance_id="a", host="a:1"), started("b", instance_id="b", host="b:1")]
    away = happens("stop", "b", 20_000)
    same = told([*static, away, started("b", 22_000)], assignor="sticky@4.3")
    other = told([*static, away, started("b", 22_000, host="b:2")], assignor="sticky@4.3")
    assert [len(each["generations"]) for each in (same, other)] == [1, 2]
    assert other["generations"][1]["t_ms"] == 23_000
