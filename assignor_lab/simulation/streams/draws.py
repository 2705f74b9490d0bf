"""Draws for one play of several: the unknown speed of the machine, and the times of inferred events."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import attrs

from assignor_lab.model.streams_episodes import StreamsEvent
from assignor_lab.simulation.streams.actions import START
from assignor_lab.simulation.streams.episode import PastDraw, StreamsEpisode
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["drawn_past", "drawn_pasts", "drawn_timings"]

#: Timings that depend on the machine and its load.
_OF_MACHINE = (
    "request_ms", "poll_ms", "rejoin_ms", "assign_ms", "acknowledge_ms", "acknowledge_new_ms", "leave_ms",
    "open_store_ms", "first_open_store_ms", "restore_poll_ms", "standby_ms", "output_ms",
)  # fmt: skip
#: Rates that depend on it.
_RATES = ("restore_bytes_per_s", "restore_records_per_s", "work_off_records_per_s")
#: Standard deviations of the logarithms: of all timings together, and of each.
_TOGETHER, _EACH = 0.15, 0.2


def drawn_timings(timings: StreamsTimings, drawn: random.Random) -> StreamsTimings:
    """The timings of one play: durations and rates of the machine around those that are known.

    Settings of Kafka stay as they are.

    Args:
        timings: The timings that are known, as medians.
        drawn: Source of the draws.
    """
    common = drawn.gauss(0, _TOGETHER)
    factors = {name: math.exp(common + drawn.gauss(0, _EACH)) for name in _OF_MACHINE}
    slower = math.exp(-common - drawn.gauss(0, _EACH))
    changes = {name: max(1, round(getattr(timings, name) * factor)) for name, factor in factors.items()}
    changes |= {name: max(1, round(getattr(timings, name) * slower)) for name in _RATES}
    return attrs.evolve(timings, **changes)


def drawn_pasts(episode: StreamsEpisode) -> Iterator[StreamsEpisode]:
    """The episode of each of its plays; one without draws is played as it is."""
    if not episode.plays.draws:
        yield episode
    for draw in episode.plays.draws:
        yield drawn_past(episode, draw)


def drawn_past(episode: StreamsEpisode, draw: PastDraw) -> StreamsEpisode:
    """A recorded past for one play: each inferred event at a time within its bounds, on a machine of a drawn speed.

    Events of one instance keep their order. Every contender plays the same draws.
    """
    drawn = random.Random(f"past {draw.seed}")  # noqa: S311 - a simulation, not a secret
    timings = drawn_timings(episode.timings, drawn)
    waits = episode.waits.shuffled(drawn) if draw.seed else episode.waits
    moved: list[StreamsEvent] = []
    latest: dict[str, int] = {}
    for place, event in enumerate(episode.events):
        further = draw.moved.get(place, 0)
        details = event.details
        if event.within_ms is not None:
            earliest, last = event.within_ms
            at_ms = max(earliest, min(last, drawn.randint(earliest, last) + further))
        else:
            at_ms = event.at_ms
            if event.type == START and further:
                startup_ms = max(0, _startup_ms(event, timings) + further)
                joins_ms = [None if each is None else max(0, each + further) for each in details.joins_ms or ()]
                details = attrs.evolve(details, startup_ms=startup_ms, joins_ms=joins_ms or None)
        if event.client:
            # The disk of an instance is lost after its end, whenever that is.
            at_ms = max(at_ms, latest.get(event.client, -1) + 1)
            if event.type == "lose_disk":
                at_ms = latest.get(event.client, at_ms - 1) + 1
            latest[event.client] = at_ms
        moved.append(attrs.evolve(event, at_ms=min(at_ms, episode.until_ms), details=details))
    moved.sort(key=lambda event: event.at_ms)
    timings = attrs.evolve(timings, **episode.past_timings)
    return attrs.evolve(episode, timings=timings, waits=waits, events=tuple(moved))


def _startup_ms(event: StreamsEvent, timings: StreamsTimings) -> int:
    return timings.startup_ms if event.details.startup_ms is None else event.details.startup_ms
