"""Tasks that disappear, appear and return while a group runs: exact moments, in both protocols."""

from __future__ import annotations

from typing import Any

import pytest

from assignor_lab.scenarios import DocumentFormatError
from assignor_lab.simulation.streams.safety.rules import broken_rules
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from tests.simulation.streams.test_stalls import away, classic, streams

ALL = ["0_0", "0_1", "0_2", "0_3"]


def tasks_are(tasks: list[str], at_ms: int) -> dict[str, Any]:
    return {"at_ms": at_ms, "type": "tasks", "tasks": tasks}


def rebalance(at_ms: int) -> dict[str, Any]:
    return {"at_ms": at_ms, "type": "metadata_changes"}


def decided(group: PlayedStreamsEpisode) -> list[list[str]]:
    """The active tasks of each generation."""
    names = group.world.tasks
    return [
        sorted(str(names[task]) for active, _ in each.assigned.values() for task in active)
        for each in group.generations
    ]


@pytest.mark.parametrize("play", [classic, streams])
def test_a_decision_has_no_task_that_has_disappeared_and_no_absence_counts(play: Any) -> None:
    before = play()
    group = play(tasks_are(ALL[:2], 60_500), rebalance(60_500))
    assert decided(before)[-1] == ALL
    assert decided(group)[-1] == ALL[:2]
    # A remaining task is at most handed over. A removed one has no interval, not even of ten minutes.
    assert all(until - since < 10_000 for since, until, _ in away(group, 60_000))
    assert [group.world.ledger.owner(task) is None for task in range(4)] == [False, False, True, True]
    assert broken_rules(group) == []


@pytest.mark.parametrize("play", [classic, streams])
def test_threads_keep_what_has_disappeared_until_the_next_decision(play: Any) -> None:
    group = play(tasks_are(ALL[:2], 60_500))
    assert len(group.generations) == len(play().generations)
    assert [group.world.ledger.owner(task) is None for task in range(4)] == [False] * 4
    assert away(group, 60_000) == set()


@pytest.mark.parametrize("play", [classic, streams])
def test_tasks_that_appear_are_away_from_that_moment_until_they_run(play: Any) -> None:
    group = play(tasks_are(ALL[:2], 0), tasks_are(ALL, 60_500), rebalance(70_000))
    assert decided(group)[0] == ALL[:2]
    assert decided(group)[-1] == ALL
    begin = group.world.begin_ms
    (first,) = group.world.ledger.intervals[3]
    assert first[0] - begin == 60_500
    assert first[1] - begin >= 70_000
    assert first[2] == "rebalance"
    assert broken_rules(group) == []


def test_tasks_that_come_back_are_away_only_while_they_exist() -> None:
    group = classic(
        tasks_are(ALL[:2], 60_500), rebalance(60_500), tasks_are(ALL, 120_000), rebalance(120_000), records=1_000
    )
    begin = group.world.begin_ms
    later = [each for each in group.world.ledger.intervals[3] if each[0] - begin > 60_000]
    assert {each[0] - begin for each in later} <= {120_000}
    assert group.world.ledger.owner(3) is not None
    assert broken_rules(group) == []


def test_an_unknown_task_and_no_task_at_all_are_refused_with_their_place() -> None:
    with pytest.raises(DocumentFormatError, match=r"events\[2\]\.tasks\[1\].*there is no task '9_9'"):
        classic(tasks_are(["0_0", "9_9"], 60_500))
    with pytest.raises(DocumentFormatError, match=r"events\[2\]\.tasks.*at least one task"):
        classic(tasks_are([], 60_500))
