"""A thread with running tasks joins a rebalance, and reads its replies, with its next poll."""

from __future__ import annotations

from typing import Any

import pytest

from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from tests.simulation.streams.episodes import played, started, task

EVENTS = [started("a", threads=1), started("b", 1, threads=1), started("c", 60_000, threads=1)]
ASSIGNORS = {"classic": "sticky@4.3", "streams": "group_sticky_4_4"}


def scaled(protocol: str, every_ms: int, seed: int = 0) -> PlayedStreamsEpisode:
    timings = {"polls_every_ms": every_ms, "max_poll_interval_ms": 60_000}
    return played(EVENTS, protocol=protocol, assignor=ASSIGNORS[protocol], seed=seed, timings=timings)


def first_run_ms(group: PlayedStreamsEpisode) -> int:
    """The first time at which the new instance runs a task."""
    begin = group.world.begin_ms
    return min(since - begin for runs in group.world.ledger.runs for since, _, name in runs if name == "c")


@pytest.mark.parametrize("protocol", ASSIGNORS)
def test_slow_polls_delay_a_scale_out(protocol: str) -> None:
    at_once = first_run_ms(scaled(protocol, 0))
    every_ms = 20_000
    late = [first_run_ms(scaled(protocol, every_ms, seed)) - at_once for seed in range(4)]
    # Under the streams protocol a later heartbeat of the new member may hide the wait.
    assert min(late) >= (0 if protocol == "streams" else 1)
    assert 0 < max(late) < 6 * every_ms + 2 * 5_000


@pytest.mark.parametrize("protocol", ASSIGNORS)
def test_threads_without_tasks_join_at_once(protocol: str) -> None:
    (quick, slow) = ([each.members for each in scaled(protocol, every_ms).generations][:1] for every_ms in (0, 2_000))
    assert quick == slow


@pytest.mark.parametrize("protocol", ASSIGNORS)
def test_each_task_runs_once_again_after_slow_polls(protocol: str) -> None:
    group: Any = scaled(protocol, 3_000)
    assert {runs[-1][2] for runs in group.world.ledger.runs} == {"a", "b", "c"}
    assert all(runs[-1][1] is None or runs[-1][1] >= group.world.clock.now for runs in group.world.ledger.runs)


def test_waits_of_a_recording_stand_for_the_timings() -> None:
    def ready_ms(**waits: list[int]) -> int:
        return first_run_ms(played(EVENTS, assignor="sticky@4.3", waits=waits))

    at_once = ready_ms()
    assert ready_ms(assign=[0]) == at_once
    assert ready_ms(assign=[2_000]) > at_once
    assert ready_ms(revoke=[5_000]) > at_once
    assert ready_ms(read=[1_000]) > at_once


def test_a_thread_that_misses_a_decision_causes_one_more() -> None:
    # The other thread revokes at once, so its rebalance begins before this one reads its JoinGroup response.
    tasks = [task(f"0_{number}") for number in range(12)]

    def decisions(**waits: list[int]) -> int:
        return len(played(EVENTS, tasks, assignor="sticky@4.3", waits=waits).generations)

    assert decisions() == decisions(read=[0]) == 3
    assert decisions(read=[0], miss=[9_000] * 50) > 3
