"""The recordings to play, and their results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins import Registry, config_sources, discover
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.comparison import compared_with
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.formats.plays import document_of
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from assignor_lab.simulation.streams.timings import StreamsTimings
from calibration.episodes import import_episode

__all__ = ["RECORDINGS", "compared", "episode_of", "played_document", "played_episode", "same_in"]

_CAPTURES = Path(__file__).resolve().parents[2] / "tests" / "data" / "captures"

RECORDINGS: Mapping[str, tuple[Path, Path]] = {
    **{
        f"downtime {name}": (_CAPTURES / "downtime" / name / "timeline.json.gz", _CAPTURES / "downtime" / name)
        for name in "ABCDF"
    },
    **{
        name: (_CAPTURES / "timelines" / f"{timeline}.json.gz", _CAPTURES / name)
        for name, timeline in (
            ("orders-2", "orders-classic-2"),
            ("plain", "plain-classic"),
            ("plain-ha", "plain-ha-classic"),
            ("tagged", "tagged-classic"),
            ("warm", "warm-classic"),
            ("orders-group-1", "orders-group"),
            ("orders-group-3", "orders-group-3"),
        )
    },
}


@cache
def episode_of(name: str) -> StreamsEpisode:
    timeline, folder = RECORDINGS[name]
    return read_episode(scenario_from_document(import_episode(timeline, folder), Place(name)))


def compared(name: str, seed: int | None = None) -> dict[str, Any]:
    found: dict[str, Any] = played_document(name, discover(), seed)["compared"]
    return found


def same_in(name: str, registry: Registry, seed: int | None) -> list[bool]:
    """For each recorded decision, true if each process has the same active tasks in a play.

    Args:
        seed: Seed of the races, with acknowledgement times as variable as recorded; ``None``: median times, as in the
            episode.
    """
    played = played_episode(name, registry, seed)
    recorded = played.episode.recorded
    return [] if recorded is None else [active for active, _ in compared_with(played.history, [], recorded).same]


def played_document(name: str, registry: Registry, seed: int | None) -> dict[str, Any]:
    assignor, played = _play(name, registry, seed)
    return document_of(played, assignor)


def played_episode(name: str, registry: Registry, seed: int | None) -> PlayedStreamsEpisode:
    return _play(name, registry, seed)[1]


def _play(name: str, registry: Registry, seed: int | None) -> tuple[str, PlayedStreamsEpisode]:
    episode = episode_of(name)
    if seed is not None:
        spread = attrs.evolve(episode.timings, acknowledge_spread_ms=StreamsTimings().acknowledge_spread_ms)
        episode = attrs.evolve(episode, timings=spread)
    return play(episode, registry, config_sources(environ={}), None, seed or 0, keep_log=False)
