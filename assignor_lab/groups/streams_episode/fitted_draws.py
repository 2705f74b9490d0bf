"""Draws of a recorded past that are moved toward the recorded decisions.

An inferred end of an instance, and the time from the start of a process to its first JoinGroup, are open within bounds.
The recording bounds them further: its decisions show them. A play of the group's own assignor shows how long after the
event its decision comes, so the event moves by the distance of that decision from the recorded one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from assignor_lab.model.decision import Decision
from assignor_lab.model.streams_episodes import StreamsEvent
from assignor_lab.simulation.streams.actions import ENDS, START
from assignor_lab.simulation.streams.episode import PastDraw, StreamsEpisode
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

__all__ = ["fitted_draw"]

#: Longer distances show another course of the group, not another moment.
_FARTHEST_MS = 15_000
#: Type, instance and number of occurrence.
EventKey = tuple[str, str, int]


def fitted_draw(episode: StreamsEpisode, draw: PastDraw, played: PlayedStreamsEpisode) -> PastDraw:
    """The draw with its open moments moved.

    Args:
        episode: The past as recorded.
        played: The play of the draw.
    """
    assert episode.recorded is not None
    recorded = dict(_shown(episode.events, episode.recorded.decisions, episode))
    ours = dict(_shown(played.episode.events, played.history.decisions, played.episode))
    moved = dict(draw.moved)
    for place, (key, event) in enumerate(_keyed(episode.events)):
        # An experiment with a probe knows when its instances joined.
        is_open = event.within_ms is not None or (event.type == START and not episode.recorded.probes)
        if is_open and key in recorded and key in ours:
            distance = recorded[key] - ours[key]
            if abs(distance) <= _FARTHEST_MS:
                moved[place] = moved.get(place, 0) + distance
    return attrs.evolve(draw, moved=moved)


def _keyed(events: Sequence[StreamsEvent]) -> Iterator[tuple[EventKey, StreamsEvent]]:
    seen: dict[tuple[str, str], int] = {}
    for event in events:
        number = seen.get((event.type, event.client), 0)
        seen[event.type, event.client] = number + 1
        yield (event.type, event.client, number), event


def _shown(
    events: Sequence[StreamsEvent], decisions: Sequence[Decision], episode: StreamsEpisode
) -> Iterator[tuple[EventKey, int]]:
    """Each start and end of an instance with the time of the first decision that shows it."""
    ended: dict[str, int] = {}
    keyed = list(_keyed(events))
    for place, (key, event) in enumerate(keyed):
        at_ms = episode.start_ms + event.at_ms
        name = event.client
        if event.type in ENDS:
            ended[name] = at_ms
            back = (each.at_ms for _, each in keyed[place + 1 :] if (each.type, each.client) == (START, name))
            until_ms = episode.start_ms + next(back, episode.until_ms)
            found = (each.at.latest_ms for each in decisions if each.at.latest_ms > at_ms and name not in each.shares)
            first = next(found, None)
            if first is not None and first <= until_ms:
                yield key, first
        elif event.type == START:
            begun_ms = at_ms + episode.startup_ms(event)
            if name in ended and event.details.instance_id and not _misses(decisions, name, ended[name], begun_ms):
                continue  # a static member within its session: no decision shows it
            first = next(
                (each.at.latest_ms for each in decisions if each.at.latest_ms > begun_ms and name in each.shares), None
            )
            if first is not None:
                yield key, first


def _misses(decisions: Sequence[Decision], name: str, after_ms: int, until_ms: int) -> bool:
    return any(after_ms < each.at.latest_ms <= until_ms and name not in each.shares for each in decisions)
