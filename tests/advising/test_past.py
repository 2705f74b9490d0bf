"""Pasts: the mix of the first part, and plays of the second one."""

from __future__ import annotations

import pytest

from assignor_lab.advising.advice import Effort, advise
from assignor_lab.advising.choice import Aims, RacedContender
from assignor_lab.advising.configurations import CLOSE, LEAVE, MEMBERS, SESSION, STATIC
from assignor_lab.advising.figures import OBJECTIVES, DayCost
from assignor_lab.advising.mix import DEFAULT_MIX
from assignor_lab.advising.past import Past, mix_of_events, past_of, played_past
from assignor_lab.advising.race import Play
from assignor_lab.advising.space import space_of
from assignor_lab.advising.streams_group import AdvisedStreamsGroup
from assignor_lab.capture.histories.past import scenarios_of_past
from assignor_lab.model.streams_episodes import StreamsEvent
from tests.advising.groups import recorded_group
from tests.capture.flight_recording import write_recording
from tests.capture.live.recorded_lives import CLASSIC

DAY = 86_400_000
MINUTE = 60_000


def restart(client: str, at_ms: int) -> list[StreamsEvent]:
    return [StreamsEvent(at_ms, "stop", client), StreamsEvent(at_ms + MINUTE, "start", client)]


def test_the_mix_of_two_weeks_counted_by_hand() -> None:
    deployments = [
        event
        for day in (1, 4, 9, 12)
        for place, name in enumerate("abc")
        for event in restart(name, day * DAY + place * 5 * MINUTE)
    ]
    crash = [StreamsEvent(6 * DAY, "crash", "b"), StreamsEvent(6 * DAY + MINUTE, "start", "b")]
    scaling = [StreamsEvent(7 * DAY, "start", "d"), StreamsEvent(8 * DAY, "stop", "d")]
    single = restart("a", 13 * DAY)
    events = sorted([*deployments, *crash, *scaling, *single], key=lambda event: event.at_ms)
    mix = mix_of_events(events, 14 * DAY, 3)
    assert mix is not None
    assert mix.rolls_per_week == pytest.approx((4 + 1 / 3) / 2)
    assert mix.scalings_per_week == pytest.approx(0.5)
    assert mix.kills_per_month == pytest.approx(30.4375 / 14)
    assert mix.stalls_per_day == DEFAULT_MIX.stalls_per_day
    assert mix.source == "the first 14 days of the past"


@pytest.mark.parametrize(("span_ms", "count"), [(DAY - 1, 3), (DAY, 1)])
def test_a_short_or_calm_time_shows_no_frequencies(span_ms: int, count: int) -> None:
    events = [event for number in range(count) for event in restart("a", number * MINUTE * 40)][: 2 * count]
    assert mix_of_events(events, span_ms, 1) is None


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Past:
    folder = tmp_path_factory.mktemp("past") / "recording"
    write_recording(folder, CLASSIC)
    past = past_of(list(scenarios_of_past([str(folder)])), {}, {})
    assert past is not None
    return past


def test_a_recorded_past_has_a_second_part_with_events(recorded: Past) -> None:
    assert recorded.second is not None
    assert recorded.mix is None
    assert "too short for frequencies" in recorded.sentences[0]


def test_the_second_part_is_played_under_another_configuration(recorded: Past) -> None:
    group = recorded_group("P1")
    present = space_of(group, DEFAULT_MIX).present
    assert recorded.second is not None

    def seconds(**changes: str) -> float | None:
        configuration = {**present, **changes}
        return played_past(recorded.second, group, configuration, present, 0).figures["task_seconds"]  # type: ignore[arg-type]

    as_recorded = seconds()
    leaving, static, long = seconds(**{CLOSE: LEAVE}), seconds(**{MEMBERS: STATIC}), seconds(**{SESSION: "60000"})
    assert as_recorded is not None
    assert leaving is not None
    assert long is not None
    assert leaving < as_recorded < long
    assert static is not None


def test_states_without_a_past_have_none() -> None:
    assert past_of([], {}, {}) is None


def test_a_winner_that_is_worse_in_the_past_is_no_advice(recorded: Past) -> None:
    group = recorded_group("P1")
    space = space_of(group, DEFAULT_MIX)

    def play(plays: list[Play]) -> list[DayCost]:
        """A long session looks best in the race, and costs most in the past."""
        return [
            DayCost({**dict.fromkeys(OBJECTIVES, 1.0), "task_seconds": 1e6 / int(each[SESSION]) + day % 2}, {}, {})
            for each, day in plays
        ]

    advice = advise(AdvisedStreamsGroup(group, recorded), DEFAULT_MIX, space, Aims(), Effort(20, 3), play)  # type: ignore[arg-type]
    assert advice.winner.configuration[SESSION] == "60000"
    assert advice.is_worse_in_past
    assert advice.changes == {}


def test_contenders_without_days_have_no_place() -> None:
    assert Aims().ranked([RacedContender({})]) == []
