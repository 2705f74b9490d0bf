"""High availability moves stateless tasks twice when an instance joins: in a recording, and in its play.

It balances stateless tasks after the stateful ones, which cannot move before a copy is warm. So a new instance
first gets many stateless tasks, and gives them back as the warm-ups finish (recorded: downtime A and B).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest

from assignment_api.plugins import discover
from assignor_lab.model.history import GroupHistory
from assignor_lab.simulation.streams.actions import action_name
from benchmarks.streams_simulation.recordings import played_episode

STATELESS = ("1_0", "1_1", "1_2", "1_3")


def decisions(name: str) -> dict[str, list[Mapping[str, str]]]:
    played = played_episode(name, discover(), 0)
    started = [each.at.latest_ms for each in played.actions if (action_name(each), each.subject) == ("start", "d3")]
    begin = started[0]
    end = next(each.at.latest_ms for each in played.actions if each.at.latest_ms > begin)
    recorded = played.episode.recorded
    assert recorded is not None
    sides = {"recorded": recorded, "simulated": played.history}
    return {side: owners(history, begin, end) for side, history in sides.items()}


def owners(history: GroupHistory, begin: int, end: int) -> list[Mapping[str, str]]:
    before = [each for each in history.decisions if each.since_ms < begin][-1:]
    within = [each for each in history.decisions if begin <= each.since_ms < end]
    return [each.owners for each in (*before, *within)]


def moves(decided: Sequence[Mapping[str, str]], task: str) -> int:
    return sum(before[task] != after[task] for before, after in pairwise(decided))


@pytest.mark.parametrize("side", ["recorded", "simulated"])
def test_a_new_instance_is_filled_with_stateless_tasks_at_once_and_gives_them_back(side: str) -> None:
    decided = decisions("downtime A")[side]
    on_d3 = [sorted(task for task in STATELESS if each[task] == "d3") for each in decided]
    assert (on_d3[0], on_d3[1], on_d3[-1]) == ([], list(STATELESS), ["1_0", "1_3"])
    assert [moves(decided, task) for task in STATELESS] == [1, 2, 2, 1]
    assert max(moves(decided, f"0_{partition}") for partition in range(8)) == 1


@pytest.mark.parametrize("name", ["downtime A", "downtime B"])
def test_the_simulation_moves_every_task_as_often_as_was_recorded(name: str) -> None:
    decided = decisions(name)
    tasks = decided["recorded"][0]
    assert {task: moves(decided["simulated"], task) for task in tasks} == {
        task: moves(decided["recorded"], task) for task in tasks
    }
    assert max(moves(decided["simulated"], task) for task in STATELESS) >= 2


@pytest.mark.parametrize("side", ["recorded", "simulated"])
def test_sticky_moves_each_of_them_once_at_most(side: str) -> None:
    decided = decisions("downtime C")[side]
    assert max(moves(decided, task) for task in STATELESS) == 1
