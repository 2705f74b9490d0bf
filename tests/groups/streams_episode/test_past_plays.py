"""Plays of a recorded past: draws within the bounds of inferred times, and the figures of the own assignor."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from assignment_api.plugins import ConfigSources, Registry
from assignment_api.plugins.config_files import file_layer
from assignment_api.plugins.layers import default_layer
from assignor_lab.capture.histories.episodes import past_as_episodes
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.groups.streams_episode.fitted_draws import fitted_draw
from assignor_lab.groups.streams_episode.past_plays import own_plays, plays_of, with_plays
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scenarios import Scenario
from assignor_lab.simulation.streams.draws import drawn_past
from assignor_lab.simulation.streams.episode import PastDraw
from assignor_lab.simulation.streams.formats.episodes import read_episode

SAMPLE = Path(__file__).parents[3] / "assignor_lab" / "samples" / "tagged"


@pytest.fixture(scope="module")
def config() -> ConfigSources:
    return ConfigSources((default_layer(),), (file_layer(SAMPLE / "application.properties"),))


@pytest.fixture(scope="module")
def registry(config: ConfigSources) -> Registry:
    return discovered(config.effective()).registry


@pytest.fixture(scope="module")
def past(config: ConfigSources) -> Scenario:
    logs = sorted(str(log) for log in (SAMPLE / "logs").iterdir())
    (found,) = past_as_episodes(logs, around=PastSurroundings(config.above))
    return found


def test_an_inferred_kill_is_an_interval_and_a_logged_stop_a_point(past: Scenario) -> None:
    events = read_episode(past).events
    kill = next(each for each in events if each.type == "crash")
    # One session before the decision; the heartbeat before it and the others' rejoin are the bounds.
    assert kill.within_ms is not None
    assert kill.within_ms[0] < kill.at_ms < kill.within_ms[1]
    assert kill.within_ms[1] - kill.within_ms[0] == 2 * 3_000
    assert [each.within_ms for each in events if each.type == "stop"] == [None] * 3


def test_draws_stay_within_bounds_and_in_the_order_of_an_instance(past: Scenario) -> None:
    episode = read_episode(past)
    bounds = {(each.type, each.client): each.within_ms or (each.at_ms, each.at_ms) for each in episode.events}
    for number in range(50):
        drawn = drawn_past(episode, PastDraw(f"0 {number}"))
        assert [each.at_ms for each in drawn.events] == sorted(each.at_ms for each in drawn.events)
        for each in drawn.events:
            if each.type == "crash":
                low, high = bounds[each.type, each.client]
                assert low <= each.at_ms <= high
    first, second, other = (drawn_past(episode, PastDraw(seed)) for seed in ("0 1", "0 1", "1 1"))
    assert first.events == second.events != other.events


def test_a_play_of_a_past_has_the_timings_of_pasts(past: Scenario) -> None:
    episode = attrs.evolve(read_episode(past), past_timings={"session_timeout_ms": 7_000})
    for seed in ("", "0 1"):
        assert drawn_past(episode, PastDraw(seed)).timings.session_timeout_ms == 7_000


def test_a_moved_draw_stays_within_bounds_and_starts_threads_later(past: Scenario) -> None:
    episode = read_episode(past)
    places = {each.type: place for place, each in enumerate(episode.events)}
    kill, start = places["crash"], places["start"]
    draw = PastDraw("0 1")
    before = drawn_past(episode, draw)
    after = drawn_past(episode, attrs.evolve(draw, moved={kill: 60_000, start: 700}))
    bounds = episode.events[kill].within_ms
    assert bounds is not None
    assert [each.at_ms for each in after.events if each.type == "crash"] == [bounds[1]]
    name, at_ms = episode.events[start].client, episode.events[start].at_ms
    startups = [
        drawn.startup_ms(
            next(each for each in drawn.events if (each.type, each.client, each.at_ms) == ("start", name, at_ms))
        )
        for drawn in (before, after)
    ]
    assert startups[1] - startups[0] == 700


def test_a_fitted_draw_moves_the_kill_toward_its_recorded_decision(
    past: Scenario, registry: Registry, config: ConfigSources
) -> None:
    episode = read_episode(past)
    draw = PastDraw("0 3")
    assert episode.recorded is not None
    (kill,) = [place for place, each in enumerate(episode.events) if each.type == "crash"]
    killed = episode.events[kill].client
    away = [each.at.latest_ms for each in episode.recorded.decisions if killed not in each.shares][1]

    def distance(of: PastDraw) -> int:
        _, played = play(drawn_past(episode, of), registry, config, may_run_code=True, keep_log=False)
        return min(abs(each.at.latest_ms - away) for each in played.history.decisions if killed not in each.shares)

    _, played = play(drawn_past(episode, draw), registry, config, may_run_code=True, keep_log=False)
    assert distance(fitted_draw(episode, draw, played)) <= distance(draw)


def test_the_own_plays_hold_the_recording_of_the_sample(
    past: Scenario, registry: Registry, config: ConfigSources
) -> None:
    found = with_plays(past, registry, config, plays=8)
    own = own_plays(found)
    assert own is not None
    assert len(own.rebalances) == len(read_episode(found).plays.draws) == 8
    assert min(own.rebalances) <= own.recorded_rebalances <= max(own.rebalances)
    assert own.recorded_downtime_s is not None
    assert own.recorded_downtime_s[0] < own.recorded_downtime_s[1]
    assert min(own.downtime_s) <= own.recorded_downtime_s[1]
    assert own.error is not None
    assert 0 <= own.error < 0.25
    assert own.leaves_at
    # A second call keeps the draws.
    assert with_plays(found, registry, config, plays=3) is found


def test_a_large_past_is_played_less_often(past: Scenario) -> None:
    generation = past.document["recorded"]["generations"][0]
    large = attrs.evolve(past, document={**past.document, "recorded": {"generations": [generation] * 1_000}})
    assert plays_of(past) == 20
    assert plays_of(large) == 200_000 // (14 * 1_000)


def test_another_seed_draws_other_plays(past: Scenario, registry: Registry, config: ConfigSources) -> None:
    draws = [read_episode(with_plays(past, registry, config, 2, seed)).plays.draws for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]
