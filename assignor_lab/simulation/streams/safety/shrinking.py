"""Shrinks an episode as long as it still shows its finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import attrs

from assignment_api.reducing import reduced
from assignment_api.streams.configs import NUM_STANDBY_REPLICAS
from assignor_lab.model.streams_episodes import EventDetails, StreamsEpisodeOutline, StreamsEvent
from assignor_lab.simulation.streams.safety.random_episodes import with_rest
from assignor_lab.simulation.streams.safety.rest import LAST_CHANGES

__all__ = ["shrunk"]

V = TypeVar("V")


def shrunk(
    episode: StreamsEpisodeOutline, still_does: Callable[[StreamsEpisodeOutline], bool], most_plays: int = 400
) -> StreamsEpisodeOutline:
    """The smallest episode found by leaving out one thing after the other.

    Args:
        still_does: Whether an episode still shows the finding; false for an inconsistent one.
    """
    begun = attrs.evolve(episode, events=episode.events[:-LAST_CHANGES])
    return with_rest(reduced(begun, _smaller, lambda each: still_does(with_rest(each)), most_plays))


def _smaller(episode: StreamsEpisodeOutline) -> Iterator[StreamsEpisodeOutline]:
    events = episode.events
    size = len(events) - 1
    while size:
        for begin in range(0, len(events) - size + 1, size):
            yield attrs.evolve(episode, events=[*events[:begin], *events[begin + size :]])
        size //= 2
    for name in dict.fromkeys(event.client for event in events if event.client):
        rest = [event for event in events if event.client != name]
        if rest:
            yield attrs.evolve(episode, events=rest)
    yield from _without_tasks(episode)
    if episode.missing_topics:
        yield attrs.evolve(episode, missing_topics=())
    if episode.eos:
        yield attrs.evolve(episode, eos=False)
    if episode.coming_refiner:
        yield attrs.evolve(episode, coming_refiner=False)
    for name in episode.timings or ():
        yield attrs.evolve(episode, timings=_without(episode.timings or {}, name))
    yield from _simpler_configs(episode)
    yield from _simpler_state(episode)
    for place, event in enumerate(events):
        for simpler in _simpler_events(event):
            yield attrs.evolve(episode, events=[*events[:place], simpler, *events[place + 1 :]])


def _without(mapping: Mapping[str, V], key: str) -> dict[str, V]:
    return {each: value for each, value in mapping.items() if each != key}


def _without_tasks(episode: StreamsEpisodeOutline) -> Iterator[StreamsEpisodeOutline]:
    tasks = episode.initial.tasks
    size = len(tasks) // 2
    while size:
        for begin in range(0, len(tasks) - size + 1, size):
            left = [*tasks[:begin], *tasks[begin + size :]]
            known = {str(task.id) for task in left}
            yield attrs.evolve(
                episode,
                initial=attrs.evolve(episode.initial, tasks=left),
                changelogs={name: each for name, each in (episode.changelogs or {}).items() if name in known},
                events=[_with_tasks_of(known, each) for each in episode.events],
            )
        size //= 2


def _with_tasks_of(known: set[str], event: StreamsEvent) -> StreamsEvent:
    tasks = event.details.tasks
    if tasks is None:
        return event
    return attrs.evolve(event, details=attrs.evolve(event.details, tasks=[task for task in tasks if task in known]))


def _simpler_configs(episode: StreamsEpisodeOutline) -> Iterator[StreamsEpisodeOutline]:
    config = episode.initial.config
    simpler = [_without(config, key) for key in config]
    standbys = config.get(NUM_STANDBY_REPLICAS)
    if isinstance(standbys, int) and standbys > 1:
        simpler.insert(0, {**config, NUM_STANDBY_REPLICAS: standbys - 1})
    for each in simpler:
        yield attrs.evolve(episode, initial=attrs.evolve(episode.initial, config=each))


def _simpler_state(episode: StreamsEpisodeOutline) -> Iterator[StreamsEpisodeOutline]:
    for name, changelog in (episode.changelogs or {}).items():
        simpler = []
        if changelog.records_per_s is not None:
            simpler.append(attrs.evolve(changelog, records_per_s=None))
        if changelog.backlog_records is not None:
            simpler.append(attrs.evolve(changelog, backlog_records=None))
        if changelog.records > 1:
            # Neither fully nor by tens: the duration of restoring can matter.
            simpler += [attrs.evolve(changelog, records=records) for records in (0, changelog.records // 10)]
        for each in simpler:
            yield attrs.evolve(episode, changelogs={**(episode.changelogs or {}), name: each})


_LEFT_OUT = (
    "tags", "machine", "instance_id", "startup_ms", "joins_ms", "leave", "leaves_ms", "rack", "host", "thread",
    "metadata_version",
)  # fmt: skip


def _simpler_events(event: StreamsEvent) -> Iterator[StreamsEvent]:
    details = event.details
    for name in _LEFT_OUT:
        if getattr(details, name) is not None:
            left = {each: getattr(details, each) for each in attrs.fields_dict(EventDetails) if each != name}
            yield attrs.evolve(event, details=EventDetails(**left))
    if details.threads is not None and details.threads > 1:
        yield attrs.evolve(event, details=attrs.evolve(details, threads=details.threads - 1))
    if event.at_ms % 1_000:
        yield attrs.evolve(event, at_ms=event.at_ms // 1_000 * 1_000)
