"""A Connect group's past in two parts: the first one shows the mix of events, the second one judges the advice.

A round has the workers of a moment, so a worker that is missing in the next one has left. Rounds do not show crashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import attrs

from assignment_api.connect import Worker
from assignor_lab.advising.days import Day, DayEvent
from assignor_lab.advising.mix import DEFAULT_MIX, Mix
from assignor_lab.advising.past import counted_events, mix_of_events
from assignor_lab.model.streams_episodes import StreamsEvent
from assignor_lab.planning.connect_state import is_connect_state
from assignor_lab.scenarios import Scenario

__all__ = ["ConnectPast", "connect_past"]

_DAY_MS = 86_400_000
_LEAST_ROUNDS = 4
#: A deployment has no longer pause.
_QUIET_MS = 1_800_000
#: The coordinator appends a random UUID to the client id.
_RANDOM_PART = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")


@attrs.frozen
class ConnectPast:
    """A past.

    Args:
        mix: The mix of the first part; ``None``: it is too short.
        second: Deployments and scalings of the second part, as an average day; ``None``: it has none.
    """

    mix: Mix | None
    second: Day | None
    sentences: tuple[str, ...]


def connect_past(scenarios: Sequence[Scenario]) -> ConnectPast | None:
    """The past of one group; ``None`` if its states are no past."""
    rounds = sorted(
        (each.time_ms, frozenset(map(_name, each.workers)))
        for scenario in scenarios
        if is_connect_state(scenario)
        for each in scenario.connect_history.rounds
        if each.time_ms > 1
    )
    if len(rounds) < _LEAST_ROUNDS:
        return None
    events, half_ms = list(_events(rounds)), _half_ms([at_ms for at_ms, _ in rounds])
    first = [each for each in events if each.at_ms < half_ms]
    second = [each for each in events if each.at_ms >= half_ms]
    instances = max(1, len(rounds[-1][1]))
    mix = mix_of_events(first, half_ms - rounds[0][0], instances)
    notes = []
    if mix is None:
        days = (half_ms - rounds[0][0]) / _DAY_MS
        notes.append(
            f"the first part of the past ({days:.2g} days, {len(first)} arrivals and departures of workers) is too "
            "short for frequencies of events"
        )
    else:
        mix = attrs.evolve(mix, kills_per_month=DEFAULT_MIX.kills_per_month)
        notes.append(
            "rounds show neither crashes nor short stalls: those of the default mix count "
            f"({mix.kills_per_month:g} crashes a month, {mix.stalls_per_day:g} stalls a day)"
        )
    day = _day(second, (rounds[-1][0] - half_ms) / _DAY_MS, instances)
    if day is None:
        notes.append("the second part of the past has no event, and judges nothing")
    return ConnectPast(mix, day, tuple(notes))


def _half_ms(times: Sequence[int]) -> int:
    """The middle of the quiet time that is next to the middle of all: no deployment is divided."""
    middle = (times[0] + times[-1]) // 2
    quiet = [(before + after) // 2 for before, after in pairwise(times) if after - before > _QUIET_MS]
    return min(quiet, key=lambda at_ms: abs(at_ms - middle), default=middle)


def _name(worker: Worker) -> str:
    """A returning worker has the same URL, and another member id."""
    return worker.url or _RANDOM_PART.sub("", worker.member_id)


def _events(rounds: Sequence[tuple[int, frozenset[str]]]) -> Iterator[StreamsEvent]:
    for (_, before), (at_ms, after) in pairwise(rounds):
        for kind, names in (("stop", before - after), ("start", after - before)):
            yield from (StreamsEvent(at_ms, kind, name) for name in sorted(names))


def _day(events: Sequence[StreamsEvent], days: float, instances: int) -> Day | None:
    rolls, scalings = counted_events(events, instances)
    weights = {kind: count / days for kind, count in (("roll", rolls), ("scaling", scalings)) if count and days}
    happenings = tuple(DayEvent(kind, 0, place) for place, kind in enumerate(weights))
    return Day(happenings, weights) if happenings else None
