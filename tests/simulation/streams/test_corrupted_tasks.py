"""Corrupted tasks: closed dirty, restored from the beginning, and one more rebalance with exactly-once."""

from __future__ import annotations

from typing import Any

import pytest

from assignor_lab.scenarios import DocumentFormatError
from assignor_lab.simulation.streams.safety.rules import broken_rules
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from tests.simulation.streams.episodes import happens
from tests.simulation.streams.test_stalls import away, classic, said, streams


def lost(group: PlayedStreamsEpisode) -> str:
    """A task that b runs at the end."""
    thread = group.world.instances["b"].threads[0]
    return str(group.world.tasks[min(thread.running)])


@pytest.mark.slow
@pytest.mark.parametrize("play", [classic, streams])
def test_a_corrupted_task_restores_all_of_its_state_and_runs_again(play: Any) -> None:
    before = play(records=20_000)
    task = lost(before)
    group = play(happens("corrupt", "b", 60_500, tasks=[task]), records=20_000)
    # 20,000 records of 1,000 bytes, at 1,000,000 bytes per second.
    assert away(group, 60_000) == {(60_500, 80_500, "restoring")}
    assert task in {str(group.world.tasks[each]) for each in group.world.instances["b"].threads[0].running}
    assert len(group.generations) == len(before.generations)
    assert broken_rules(group) == []


def test_with_exactly_once_a_member_of_a_classic_group_joins_again() -> None:
    before = classic(eos=True)
    group = classic(happens("corrupt", "b", 60_500, tasks=[lost(before)]), eos=True)
    (more,) = [each for each in group.generations if each.prepared_ms - group.world.begin_ms >= 60_500]
    assert "Active tasks corrupted" in more.reason
    assert broken_rules(group) == []


def test_a_member_of_a_streams_group_asks_for_no_rebalance() -> None:
    before = streams(eos=True)
    group = streams(happens("corrupt", "b", 60_500, tasks=[lost(before)]), eos=True)
    assert len(group.generations) == len(before.generations)


def test_tasks_that_an_instance_does_not_have_are_passed_over() -> None:
    before = classic()
    others = [str(task) for task in before.world.tasks if str(task) != lost(before)]
    mine = {str(before.world.tasks[each]) for each in before.world.instances["b"].threads[0].running}
    group = classic(happens("corrupt", "b", 60_500, tasks=[each for each in others if each not in mine]))
    assert said(group, "corrupt") == []


def test_an_unknown_task_is_refused_with_its_place() -> None:
    with pytest.raises(DocumentFormatError, match=r"events\[2\]\.tasks\[0\].*there is no task '9_9'"):
        classic(happens("corrupt", "b", 60_500, tasks=["9_9"]))
