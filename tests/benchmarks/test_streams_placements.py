"""Recorded decisions in single steps and in many simulations: as on the page; both can fail."""

from __future__ import annotations

import attrs
import pytest

from assignment_api.plugins import discover
from assignor_lab.simulation.streams.episode import StreamsEpisode
from benchmarks.streams_simulation.one_step import OneStep, one_step
from benchmarks.streams_simulation.page import PAGE
from benchmarks.streams_simulation.placements import Placements, placements_table
from benchmarks.streams_simulation.recordings import RECORDINGS, episode_of, same_in


def judged(name: str, episode: StreamsEpisode | None = None) -> OneStep:
    return one_step(episode or episode_of(name), RECORDINGS[name][0], discover())


def row(name: str) -> list[str]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {name} |")]
    (found,) = [line for line in lines if len(line.split("|")) == 8 and " of " not in line and " / " not in line]
    return [cell.strip() for cell in found.strip("|").split("|")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["orders-group-1", "orders-group-3", "downtime D"])
def test_every_target_of_a_broker_follows_from_the_one_before(name: str) -> None:
    found = judged(name)
    assert found.same == found.recorded > 18


def test_a_target_does_not_follow_where_processes_had_other_ids() -> None:
    episode = episode_of("orders-group-3")
    ids = [event.details.process_id for event in episode.events if event.type == "start"]
    other = dict(zip(dict.fromkeys(ids), reversed(dict.fromkeys(ids)), strict=True))
    events = [
        attrs.evolve(event, details=attrs.evolve(event.details, process_id=other[event.details.process_id]))
        if event.type == "start"
        else event
        for event in episode.events
    ]
    found = judged("orders-group-3", attrs.evolve(episode, events=tuple(events)))
    assert found.same < found.recorded


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain-ha", "orders-group-3", "downtime D"])
def test_the_page_says_what_is_measured(name: str) -> None:
    found = judged(name)
    cells = row(name)
    assert (cells[1], cells[-1]) == (str(found.recorded), str(found.same))
    assert cells[2] == str(sum(same_in(name, discover(), None)))


def test_four_of_five_decisions_are_those_of_one_play_and_follow_from_what_was_decided_before_them() -> None:
    recorded, one_play, *_, one_step_at_a_time = map(float, row("all")[1:])
    assert min(one_play, one_step_at_a_time) >= 0.8 * recorded


@pytest.mark.slow
def test_a_seed_draws_the_races_again() -> None:
    assert same_in("orders-group-3", discover(), 0) != same_in("orders-group-3", discover(), None)


def test_decisions_that_any_play_reaches_count_once() -> None:
    found = {"x": Placements(4, 1, (1, 2), 3, 4), "y": Placements(2, 2, (2, 0), 2, 1)}
    assert placements_table(found).splitlines()[2:] == [
        "| x | 4 | 1 | 1.5 | 3 | 4 |",
        "| y | 2 | 2 | 1.0 | 2 | 1 |",
        "| all | 6 | 3 | 2.5 | 5 | 5 |",
        "",
        "Of all 6: one play 50 %, mean 42 %, in one of 2 83 %, one step at a time 83 %.",
    ]
