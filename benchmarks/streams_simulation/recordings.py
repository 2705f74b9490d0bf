"""The recordings that are played, and what comes of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.episodes import import_episode
from assignor_lab.groups.playing import play
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.episode_format import read_episode
from assignor_lab.simulation.streams.results import document_of

__all__ = ["RECORDINGS", "compared"]

_CAPTURES = Path(__file__).resolve().parents[2] / "tests" / "data" / "captures"

#: Name to the timeline and the folder of the recording.
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


def compared(name: str, seed: int = 0) -> dict[str, Any]:
    """What the simulation makes of a recording, beside what really happened."""
    timeline, folder = RECORDINGS[name]
    episode = read_episode(scenario_from_document(import_episode(timeline, folder), Place(name)))
    assignor, played = play(episode, discover(), config_sources(environ={}), None, seed, keep_log=False)
    found: dict[str, Any] = document_of(played, assignor)["compared"]
    return found
