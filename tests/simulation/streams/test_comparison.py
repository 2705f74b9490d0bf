"""Simulated episodes compared with their recordings."""

from __future__ import annotations

from assignor_lab.simulation.streams.comparison import compared_with, merged_interruptions
from tests.simulation.streams.episodes import happens, started, told

EVENTS = [started("a"), started("b", 1), happens("stop", "b", 60_000, leave=True)]


def test_an_episode_agrees_with_itself() -> None:
    once = told(EVENTS, records=10)
    probe = [
        {
            "t_ms": 60_000, "end_ms": 600_000, "action": "stop of b", "restored_bytes": 0, "standby_bytes": 0,
            "tasks": {
                task: [[begin, to - begin] for begin, to in merged_interruptions(each["intervals"]) if begin >= 60_000]
                for task, each in once["tasks"].items()
            },
        }
    ]  # fmt: skip
    compared = compared_with(once, [], {"generations": once["generations"], "probe": probe})
    for action in compared["actions"]:
        assert action["rebalances"]["recorded"] == action["rebalances"]["simulated"]
        assert action["until_stable_ms"]["recorded"] == action["until_stable_ms"]["simulated"]
    count = len(once["generations"])
    assert compared["generations"] == {"recorded": count, "same_active_tasks": count, "same_tasks": count}
    (window,) = compared["probe"]
    assert window["unavailable_ms"]["recorded"] == window["unavailable_ms"]["simulated"]


def test_other_tasks_are_other_tasks() -> None:
    once = told(EVENTS, records=10)
    other = [{**each, "assigned": {"a": {"active": [], "standby": []}}} for each in once["generations"]]
    compared = compared_with(once, [], {"generations": other})
    assert compared["generations"]["same_active_tasks"] == 0


def test_causes_that_follow_one_another_are_one_interruption() -> None:
    assert merged_interruptions([[0, 5, "not_noticed"], [5, 9, "rebalance"], [20, 21, "revoked"]]) == [(0, 9), (20, 21)]
