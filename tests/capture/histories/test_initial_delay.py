"""``group.initial.rebalance.delay.ms`` from recordings that do not name it."""

from __future__ import annotations

from pathlib import Path

from assignment_api.plugins import config_sources
from assignor_lab.capture.histories.episodes import episodes_of_past
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.simulation.streams.episode import StreamsEpisode

CAPTURES = Path("tests/data/captures")
KEY = "group.initial.rebalance.delay.ms"


def episode(name: str, *given: str) -> StreamsEpisode:
    around = PastSurroundings(config_sources(None, given, environ={}).above, on_problem=lambda _: None)
    (found,) = episodes_of_past([str(CAPTURES / "versions" / f"{name}.log.gz")], around=around)
    return found


def sentences(found: StreamsEpisode) -> list[str]:
    return [each for each in found.assumptions if KEY in each]


def test_a_thread_that_is_missing_in_the_first_decision_shows_a_short_delay() -> None:
    found = episode("3.9.2")
    assert found.timings.initial_rebalance_delay_ms == 0
    (sentence,) = sentences(found)
    assert "has 1 of 2 threads of one process" in sentence
    assert "0 to 1000 ms" in sentence


def test_an_early_first_decision_of_two_threads_bounds_the_delay_by_half_of_its_wait() -> None:
    (sentence,) = sentences(episode("3.0.2"))
    assert "prolongs the delay once" in sentence
    assert "0 to 2129 ms" in sentence


def test_a_given_delay_counts() -> None:
    found = episode("3.9.2", f"{KEY}=500")
    assert found.timings.initial_rebalance_delay_ms == 500
    assert not sentences(found)


def test_the_default_counts_as_long_as_nothing_contradicts_it() -> None:
    logs = sorted(str(each) for each in (CAPTURES / "plain-ha").glob("*[0-9].log.gz"))
    (found,) = episodes_of_past(logs, around=PastSurroundings(on_problem=lambda _: None))
    assert found.timings.initial_rebalance_delay_ms == 3_000
    assert not sentences(found)
