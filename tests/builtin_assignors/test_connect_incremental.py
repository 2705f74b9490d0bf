from __future__ import annotations

from typing import Any

import pytest

from assignment_api.connect import (
    MAX_DELAY_KEY,
    ConfiguredJobs,
    ConnectConfigError,
    ConnectProtocol,
    Jobs,
    Rebalance,
    UnsupportedConnectProtocolError,
    Worker,
)
from builtin_assignors._connect_incremental_steps.balancing import backoff
from builtin_assignors.connect_eager import EagerAssignor
from builtin_assignors.connect_incremental import IncrementalCooperativeAssignor
from tests.builtin_assignors.connect_cluster import Cluster, check_stable, tasks, told

THREE = {"c1": 4, "c2": 4, "c3": 4}
QUIRKS = "assignor.connect_incremental.quirks"


def cluster(connectors: dict[str, int], *members: str, quirks: str = "all", max_delay: int = 300_000) -> Cluster:
    made = Cluster(IncrementalCooperativeAssignor(), connectors, max_delay=max_delay, settings={QUIRKS: quirks})
    made.join(*members)
    return made


def worker(member: str, *connectors: str) -> Worker:
    return Worker(member, Jobs(connectors))


def test_the_golden_trace_of_the_reference() -> None:
    group = cluster(THREE, "worker1")
    group.rebalance(1_000)
    assert group.sizes() == ([3], [12])

    group.join("worker2")
    answer = group.rebalance(2_000)
    assert told(answer) == {"worker1": ("", "c1 c1-0 c1-1 c1-2 c1-3 c2-0 c2-1")}
    assert answer.delay_ms == 0

    group.join("worker3")
    answer = group.rebalance(2_100)
    assert told(answer) == {"worker2": ("c1 c1-0 c1-2 c2-0", ""), "worker3": ("c1-1 c1-3 c2-1", "")}
    assert answer.delay_ms == 40

    assert told(group.rebalance(2_140)) == {"worker1": ("", "c2 c2-2 c2-3")}
    assert told(group.rebalance(2_150)) == {"worker2": ("c2-2", ""), "worker3": ("c2 c2-3", "")}

    group.leave("worker2")
    for time, delay in ((8_150, 300_000), (158_150, 150_000)):
        answer = group.rebalance(time)
        assert (told(answer), answer.delay_ms) == ({}, delay)
    group.join("worker4")
    assert group.rebalance(208_150).delay_ms == 100_000
    answer = group.rebalance(308_150)
    assert told(answer) == {"worker4": ("c1 c1-0 c1-2 c2-0 c2-2", "")}
    assert answer.delay_ms == 0

    del group.connectors["c2"]
    assert told(group.rebalance(309_150)) == {
        "worker1": ("", "c3-0"),
        "worker3": ("", "c2 c2-1 c2-3"),
        "worker4": ("", "c2-0 c2-2"),
    }
    assert told(group.rebalance(309_160)) == {"worker3": ("c3-0", "")}
    check_stable(group)


@pytest.mark.parametrize(
    ("max_delay", "pauses"),
    [
        (300_000, [40, 1_600, 64_000, 300_000, 300_000]),
        (60_000, [40, 1_600, 60_000]),
        (30_000, [40, 1_600, 29_999]),
        (10_000, [40, 1_600, 10_000]),
        (1_000, [40, 999]),
        (600_000, [40, 1_600, 64_000, 599_999]),
        (2**31 - 1, [40, 1_600, 64_000, 2_560_000, 102_400_000, 2**31 - 1]),
        (1, [1, 1]),
        (0, [0, 0]),
    ],
)
def test_pauses_between_revocations_are_kafkas(max_delay: int, pauses: list[int]) -> None:
    assert [backoff(successive, max_delay) for successive in range(1, len(pauses) + 1)] == pauses


@pytest.mark.parametrize(
    ("connectors", "expected"),
    [
        ({"connector1": 1}, {"leader": ("connector1", ""), "member": ("connector1-0", "")}),
        (
            {"connector1": 2, "connector2": 1},
            {
                "leader": ("connector1 connector1-0 connector2-0", ""),
                "member": ("connector2 connector1-1", ""),
            },
        ),
        (
            {"connector1": 1, "connector2": 1, "connector3": 1},
            {
                "leader": ("connector1 connector3 connector2-0", ""),
                "member": ("connector2 connector1-0 connector3-0", ""),
            },
        ),
    ],
)
def test_eager_deals_connectors_and_then_tasks_in_one_turn(connectors: dict[str, int], expected: object) -> None:
    group = Cluster(EagerAssignor(), connectors, protocol=ConnectProtocol.EAGER)
    group.join("member", "leader")
    assert told(group.rebalance()) == expected


def test_new_jobs_go_to_the_least_loaded_who_were_lightest_first() -> None:
    group = cluster({})
    group.join("w0", "w1", "w2")
    group.owned = {
        "w0": Jobs(["0", "1"]),
        "w1": Jobs(["2", "3"]),
        "w2": Jobs(["4", "5", "x"]),
    }
    group.connectors = dict.fromkeys(["0", "1", "2", "3", "4", "5", "x", "6", "7", "8", "9", "a"], 0)
    group.rebalance()
    answer = told(group.rebalance())
    assert answer == {}
    assert group.owned["w0"].connectors[:2] == ("6", "8")


def test_a_bounced_worker_gets_its_jobs_back_at_the_deadline_and_nothing_else_moves() -> None:
    group = cluster(THREE, "worker1", "worker2")
    group.settle()
    lost = group.owned["worker2"]
    group.leave("worker2")
    assert group.rebalance(10_000).delay_ms == 300_000
    group.join("worker2-again")
    assert told(group.rebalance(20_000)) == {}
    answer = group.rebalance(310_000)
    assert set(answer.workers["worker2-again"].assigned.tasks) == set(lost.tasks)
    assert not answer.has_revocations


def test_without_a_delay_lost_jobs_are_placed_at_once() -> None:
    group = cluster(THREE, "worker1", "worker2", max_delay=0)
    group.settle()
    group.leave("worker2")
    answer = group.rebalance()
    assert answer.delay_ms == 0
    assert group.sizes() == ([3], [12])


def test_an_empty_worker_that_leaves_causes_no_delay() -> None:
    group = cluster({"c": 0}, "worker1", "worker2", "worker3")
    group.settle()
    empty = next(member for member, jobs in group.owned.items() if len(jobs) == 0)
    group.leave(empty)
    assert group.rebalance().delay_ms == 0


def test_jobs_that_two_workers_report_are_taken_from_both_and_placed_anew() -> None:
    group = cluster({"c": 2}, "worker1", "worker2")
    group.settle()
    group.owned["worker1"] = group.owned["worker1"].plus(Jobs((), tasks("c-0", "c-1")))
    group.owned["worker2"] = group.owned["worker2"].plus(Jobs((), tasks("c-0", "c-1")))
    answer = group.rebalance()
    assert all(set(tasks("c-0", "c-1")) == set(each.revoked.tasks) for each in answer.workers.values())
    group.settle()
    check_stable(group)


def test_an_assignment_that_got_lost_is_given_out_again_without_delay() -> None:
    group = cluster(THREE, "worker1", "worker2")
    group.rebalance(lost_by=["worker1", "worker2"])
    assert group.rebalance().delay_ms == 0
    check_stable(group)


def test_several_workers_that_return_share_the_lost_jobs() -> None:
    group = cluster({"c": 8}, "worker1", "worker2")
    group.settle()
    group.leave("worker2")
    group.rebalance(10_000)
    group.join("a", "b")
    group.rebalance(20_000)
    answer = group.rebalance(310_000)
    assert [len(answer.workers[member].assigned.tasks) for member in ("a", "b")] == [2, 2]


# --- quirks and their switches ---------------------------------------------------------------------


@pytest.mark.parametrize(("quirks", "stays"), [("all", True), ("none", False), ("Q2,Q3", False), ("Q1", True)])
def test_q1_a_new_leader_does_not_see_that_a_job_was_deleted(quirks: str, stays: bool) -> None:
    assignor = IncrementalCooperativeAssignor()
    assignor.configure({MAX_DELAY_KEY: 300_000, QUIRKS: quirks})
    answer = assignor.assign(
        Rebalance(ConfiguredJobs({"A": 0, "C": 0}), [worker("w1", "A"), worker("w2", "B")], generation=7)
    )
    assert ("B" not in answer.workers["w2"].revoked.connectors) is stays


@pytest.mark.parametrize(("quirks", "expected"), [("all", True), ("none", False)])
def test_q2_a_candidate_is_given_jobs_and_told_to_stop_them_at_once(quirks: str, expected: bool) -> None:
    group = cluster({"c": 9}, "worker1", "worker2", "worker3", quirks=quirks)
    group.settle()
    group.leave("worker2", "worker3")
    group.rebalance(10_000)
    group.join("worker4")
    group.rebalance(20_000)
    never_had = group.owned["worker4"]
    answer = group.rebalance(310_000)
    told_to_stop = set(answer.workers["worker4"].revoked.tasks) - set(never_had.tasks)
    assert bool(told_to_stop) is expected
    group.settle()
    check_stable(group)


@pytest.mark.parametrize(("quirks", "revokes"), [("all", True), ("none", False)])
def test_q3_two_rebalances_during_a_pause_end_it(quirks: str, revokes: bool) -> None:
    group = cluster({"c": 12}, "worker1", quirks=quirks)
    group.rebalance(1_000)
    group.join("worker2")
    group.rebalance(2_000)
    group.join("worker3")
    assert group.rebalance(2_010).delay_ms == 40
    group.rebalance(2_020)
    assert group.rebalance(2_030).has_revocations is revokes


@pytest.mark.parametrize(("quirks", "pause"), [("all", 1_600), ("none", 40)])
def test_q4_the_count_of_revoking_rounds_survives_a_delay(quirks: str, pause: int) -> None:
    group = cluster({"c": 60}, "worker1", quirks=quirks)
    group.rebalance(1_000)
    group.join("worker2")
    group.rebalance(2_000)
    group.join("worker3")
    assert group.rebalance(2_010).delay_ms == 40
    group.rebalance(2_050)
    group.leave("worker2")
    assert group.rebalance(2_060).delay_ms > 0
    group.rebalance(group.deadline or 0)
    group.settle()
    group.join("worker4")
    group.rebalance(900_000)
    group.join("worker5")
    assert group.rebalance(900_010).delay_ms in (40, pause)


@pytest.mark.parametrize(("quirks", "delay"), [("all", 40), ("Q5,Q8", 40), ("Q8", 0)])
def test_q5_a_worker_that_leads_again_goes_on_where_it_stopped(quirks: str, delay: int) -> None:
    group = cluster({"c": 12}, "worker1", quirks=quirks)
    group.rebalance(1_000)
    group.join("worker2")
    assert group.rebalance(2_000).has_revocations
    # Another worker leads some generations, then an empty worker joins and the first one leads again.
    group.generation += 5
    group.completed = group.generation
    group.join("worker3")
    assert group.rebalance(900_000).delay_ms == delay


@pytest.mark.parametrize(("quirks", "delay"), [("all", 30_000), ("none", 300_000), ("Q6", 30_000)])
def test_q6_each_leader_uses_its_own_longest_delay(quirks: str, delay: int) -> None:
    assignor = IncrementalCooperativeAssignor()
    assignor.configure({MAX_DELAY_KEY: 30_000, QUIRKS: quirks})
    configured = ConfiguredJobs({"a": 0, "b": 0})
    both = [Worker("w1", max_delay_ms=30_000), Worker("w2", max_delay_ms=300_000), Worker("w3", max_delay_ms=300_000)]
    assignor.assign(Rebalance(configured, both, time_ms=1_000, generation=0))
    left = [Worker("w1", Jobs(["a"]), max_delay_ms=30_000), Worker("w3", max_delay_ms=300_000)]
    answer = assignor.assign(Rebalance(configured, left, time_ms=2_000, generation=1, last_completed_generation=0))
    assert answer.delay_ms == delay


@pytest.mark.parametrize(("quirks", "placed_at_once"), [("all", 6), ("none", 2), ("Q7", 6)])
def test_q7_a_revocation_without_effect_makes_lost_jobs_new(quirks: str, placed_at_once: int) -> None:
    group = cluster({"c": 12}, "worker1", "worker2", quirks=quirks)
    group.settle()
    group.join("worker3")
    group.rebalance(5_000, lost_by=["worker1", "worker2", "worker3"])
    group.leave("worker2")
    answer = group.rebalance(6_000)
    # Two of the leaver's six jobs had been revoked from it, and always count as new.
    assert sum(len(each.assigned.tasks) for each in answer.workers.values()) == placed_at_once
    assert answer.delay_ms == 300_000  # Kafka waits even if no job is lost any more


@pytest.mark.parametrize(("quirks", "delay"), [("all", 0), ("none", 300_000)])
def test_q8_the_leaders_own_jobs_are_never_waited_for(quirks: str, delay: int) -> None:
    group = cluster(THREE, "leader", "worker", quirks=quirks)
    group.settle()
    group.leave("leader")
    group.assignor = IncrementalCooperativeAssignor()
    group.assignor.configure({MAX_DELAY_KEY: 300_000, QUIRKS: quirks})
    assert group.rebalance().delay_ms == delay


# --- settings and refusals -------------------------------------------------------------------------


def test_the_order_of_ids_may_decide_in_place_of_javas() -> None:
    members = [f"worker-{number:02}" for number in range(20)]
    answers = []
    for order in ("java", "sorted"):
        group = Cluster(
            IncrementalCooperativeAssignor(),
            {"c": 40},
            settings={"assignor.connect_incremental.order": order},
        )
        group.join(members[0])
        group.rebalance()
        group.join(*members[1:])
        group.settle()
        answers.append(group.sizes())
    assert answers == [([0] * 19 + [1], [2] * 20)] * 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({QUIRKS: "Q9"}, "expected all, none, or a list of Q1"),
        ({QUIRKS: 3}, "Q1"),
        ({"assignor.connect_incremental.order": "random"}, "must be one of: java, sorted"),
        ({"assignor.connect_incremental.quirk": "all"}, "did you mean assignor.connect_incremental.quirks"),
        ({MAX_DELAY_KEY: -1}, "at least 0"),
        ({MAX_DELAY_KEY: "soon"}, "Not a number of type INT"),
        ({MAX_DELAY_KEY: 2**31}, "Not a number of type INT"),
    ],
)
def test_wrong_settings_are_refused_by_name(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConnectConfigError, match=message):
        IncrementalCooperativeAssignor().configure(settings)


def test_quirks_may_come_as_a_list() -> None:
    IncrementalCooperativeAssignor().configure({QUIRKS: ["Q1", "q2"], MAX_DELAY_KEY: "1000"})


def test_an_eager_group_cannot_be_led() -> None:
    with pytest.raises(UnsupportedConnectProtocolError, match="use connect_eager"):
        IncrementalCooperativeAssignor().assign(
            Rebalance(ConfiguredJobs({}), [Worker("w")], protocol=ConnectProtocol.EAGER)
        )


def test_kip_415s_downgrade_empties_everybody_and_asks_for_a_further_round() -> None:
    assignor = EagerAssignor()
    assignor.configure({"assignor.connect_eager.downgrade": "kip415"})
    first = Rebalance(
        ConfiguredJobs({"c": 1}),
        [Worker("w")],
        protocol=ConnectProtocol.EAGER,
        previous_protocol=ConnectProtocol.SESSIONED,
    )
    answer = assignor.assign(first)
    assert (told(answer), answer.rejoin) == ({}, True)
    second = Rebalance(
        ConfiguredJobs({"c": 1}),
        [Worker("w")],
        protocol=ConnectProtocol.EAGER,
        previous_protocol=ConnectProtocol.EAGER,
        generation=1,
    )
    answer = assignor.assign(second)
    assert (told(answer), answer.rejoin) == ({"w": ("c c-0", "")}, False)


def test_the_first_member_is_told_in_the_order_of_the_rebalance() -> None:
    group = cluster({"c": 3}, "z", "a", "m")
    assert list(group.rebalance().workers) == ["z", "a", "m"]
