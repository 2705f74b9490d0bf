"""Episode of a Connect group: workers with their jobs, and events."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.connect import Jobs
from assignor_lab.documents.errors import Place
from assignor_lab.model.connect_episodes import ConnectEvent
from assignor_lab.simulation.connect.timings import ConnectTimings
from assignor_lab.simulation.connect.worker_settings import WorkerSettings

__all__ = ["LEADER", "ConnectEpisode"]

#: Stands for the present leader's name.
LEADER = "@leader"


@attrs.frozen(eq=False)
class ConnectEpisode:
    """A group, and its events.

    Args:
        leader: Worker that leads when the episode begins; ``None``: the seed draws it.
        departed: Worker that leaves at once, and never leads; ``None``: none does.
    """

    id: str
    start_ms: int
    connectors: Mapping[str, int]
    workers: Mapping[str, tuple[WorkerSettings, Jobs]]
    events: tuple[ConnectEvent, ...]
    until_ms: int
    timings: ConnectTimings
    place: Place
    leader: str | None = None
    departed: str | None = None
