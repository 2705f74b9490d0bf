"""Starts of processes as a distribution: given, learned from logs, or that of busy machines."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from assignor_lab.capture.histories.past import scenarios_of_past
from assignor_lab.planning.making import Options, PlanError
from assignor_lab.planning.plans import GIVEN, Starts
from assignor_lab.planning.starts import learned_starts, options_with_starts, parse_starts
from assignor_lab.simulation.streams.timings import StreamsTimings
from assignor_lab.verification.replays import past_episodes

_TIMINGS = StreamsTimings()


def test_a_single_number_is_a_median() -> None:
    assert parse_starts("8") == (8_000, None)


def test_two_numbers_are_the_bounds_of_90_percent_of_starts() -> None:
    median_ms, starts = parse_starts("6..16")
    assert starts == Starts(6_000, 16_000, GIVEN)
    assert median_ms == 9_798
    numbers = random.Random(0)
    drawn = [starts.drawn(numbers) for _ in range(4_000)]
    assert 0.88 < sum(6_000 <= each <= 16_000 for each in drawn) / len(drawn) < 0.92


@pytest.mark.parametrize("text", ["", "6..", "..6", "16..6", "0", "0..3", "six", "6...8", "-1"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(PlanError, match=r"6\.\.16"):
        parse_starts(text)


def test_given_starts_and_known_timings_stay() -> None:
    given = Options(start_ms=5_000)
    assert options_with_starts(given, list, _TIMINGS, are_known=False) is given
    assert options_with_starts(Options(), list, _TIMINGS, are_known=True).starts is None


def test_unknown_starts_are_those_of_idle_and_busy_machines() -> None:
    starts = options_with_starts(Options(), list, _TIMINGS, are_known=False).starts
    assert starts is not None
    assert starts.low_ms == _TIMINGS.startup_ms + _TIMINGS.join_ms
    assert starts.high_ms == 14_000


def test_starts_of_the_groups_own_logs_are_learned() -> None:
    logs = Path(__file__).parents[2] / "assignor_lab" / "samples" / "tagged" / "logs"
    starts = learned_starts(past_episodes(scenarios_of_past(sorted(map(str, logs.iterdir())))))
    assert starts is not None
    assert starts.source == "as in 5 starts in its logs"
    assert 100 < starts.low_ms < 1_000 < starts.high_ms < 5_000
