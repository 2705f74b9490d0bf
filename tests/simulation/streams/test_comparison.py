"""Played histories compared with their recordings."""

from __future__ import annotations

import attrs

from assignor_lab.model.courses import ProbeWindow, TaskCourse, UnownedTime
from assignor_lab.model.decision import InstanceShare
from assignor_lab.simulation.streams.comparison import compared_with
from tests.simulation.streams.episodes import happens, played, started

EVENTS = [started("a"), started("b", 1), happens("stop", "b", 60_000, leave=True)]


def test_an_episode_agrees_with_itself() -> None:
    once = played(EVENTS, records=10).history
    begin, end = (once.begin_ms or 0) + 60_000, (once.begin_ms or 0) + 600_000
    away = {
        task: tuple(
            (each[0].begin_ms, each[-1].end_ms - each[0].begin_ms)
            for each in course.interruptions
            if each[0].begin_ms >= begin
        )
        for task, course in once.courses.items()
    }
    window = ProbeWindow(begin, end, "stop of b", away, 0)
    compared = compared_with(once, [], attrs.evolve(once, probes=(window,)))
    assert all(action.recorded == action.simulated for action in compared.actions)
    assert compared.same == ((True, True),) * len(once.decisions)
    (shown,) = compared.probe
    assert shown.unavailable_ms.recorded == shown.unavailable_ms.simulated


def test_other_tasks_are_other_tasks() -> None:
    once = played(EVENTS, records=10).history
    other = tuple(attrs.evolve(each, shares={"a": InstanceShare()}) for each in once.decisions)
    compared = compared_with(once, [], attrs.evolve(once, decisions=other))
    assert not any(active for active, _ in compared.same)


def test_causes_that_follow_one_another_are_one_interruption() -> None:
    waits = (UnownedTime(0, 5, "not_noticed"), UnownedTime(5, 9, "rebalance"), UnownedTime(20, 21, "revoked"))
    found = TaskCourse((), waits).interruptions
    assert [(each[0].begin_ms, each[-1].end_ms) for each in found] == [(0, 9), (20, 21)]
