"""Documents of kind ``connect-episode`` of outlines of episodes."""

from __future__ import annotations

from typing import Any

import attrs

from assignment_api.connect import StaticJobs
from assignor_lab.model.connect_episodes import (
    ConnectDetails,
    ConnectEpisodeOutline,
    ConnectEvent,
    ConnectOpening,
    OpeningWorker,
)

__all__ = ["connect_episode_document"]


def connect_episode_document(episode: ConnectEpisodeOutline) -> dict[str, Any]:
    """The document of an episode, with the given facts alone."""
    return {
        "format": 1,
        "kind": "connect-episode",
        "id": episode.id,
        "initial": _opening(episode.initial),
        **({} if episode.leader is None else {"leader": episode.leader}),
        "events": [_event(each) for each in episode.events],
        "until_ms": episode.until_ms,
        **({} if episode.timings is None else {"timings": dict(episode.timings)}),
    }


def _opening(opening: ConnectOpening) -> dict[str, Any]:
    members = [_member(each) for each in opening.workers]
    return {
        "format": 1,
        "kind": "connect",
        "id": opening.id,
        "protocol": opening.protocol.value,
        "max_delay_ms": opening.max_delay_ms,
        "rounds": [{"time_ms": opening.time_ms, "connectors": dict(opening.connectors), "members": members}],
    }


def _member(worker: OpeningWorker) -> dict[str, Any]:
    owned = {"connectors": list(worker.connectors), "tasks": list(worker.tasks)}
    return {"id": worker.name, "owned": owned, "static": _static(worker.static)}


def _static(static: StaticJobs) -> dict[str, Any]:
    return {
        "connectors": None if static.connectors is None else list(static.connectors),
        "tasks": None if static.tasks is None else [str(task) for task in static.tasks],
    }


def _event(event: ConnectEvent) -> dict[str, Any]:
    details = event.details
    given = {
        each.name: getattr(details, each.name)
        for each in attrs.fields(ConnectDetails)
        if getattr(details, each.name) != each.default
    }
    written = {
        **({} if details.protocol is None else {"protocol": details.protocol.value}),
        **({} if details.static is None else {"static": _static(details.static)}),
    }
    keys = {"deleted": "connectors"}
    worker = {"worker": event.worker} if event.worker else {}
    fields = {keys.get(name, name): written.get(name, value) for name, value in given.items()}
    return {"at_ms": event.at_ms, "type": event.type, **worker, **fields}
