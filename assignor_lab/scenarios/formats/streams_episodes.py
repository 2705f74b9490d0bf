"""Documents of kind ``streams-episode`` of outlines of episodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import attrs

from assignment_api.streams import TaskInfo
from assignor_lab.model.streams_episodes import (
    EventDetails,
    OpeningInstance,
    StreamsEpisodeOutline,
    StreamsEvent,
    StreamsOpening,
)

__all__ = ["episode_document"]


def episode_document(episode: StreamsEpisodeOutline, last: Collection[str] = ()) -> dict[str, Any]:
    """The document of an episode, with the given facts alone.

    Args:
        last: Keys at the end of their objects: each source of episodes has its own order, and equal seeds give equal
            bytes in each release.
    """
    changelogs = None
    if episode.changelogs is not None:
        changelogs = {task: _given(attrs.asdict(each)) for task, each in episode.changelogs.items()}
    found = {
        "format": 1,
        "kind": "streams-episode",
        "id": episode.id,
        "protocol": episode.protocol,
        "assignor": episode.assignor,
        "initial": _opening(episode.initial, last),
        "changelogs": changelogs,
        "events": [_event(each) for each in episode.events],
        "until_ms": episode.until_ms,
        "timings": None if episode.timings is None else dict(episode.timings),
        "eos": episode.eos or None,
        "missing_topics": list(episode.missing_topics) or None,
        "coming_refiner": episode.coming_refiner or None,
        "settings": None if episode.settings is None else dict(episode.settings),
    }
    return _ordered(_given(found), last)


def _opening(opening: StreamsOpening, last: Collection[str]) -> dict[str, Any]:
    workload = None
    if opening.workload is not None:
        weights = {task: _ordered(_given(attrs.asdict(each)), last) for task, each in opening.workload.items()}
        workload = {"tasks": weights}
    found = {
        "format": 1,
        "kind": "streams",
        "id": opening.id,
        "config": {key: list(value) if isinstance(value, tuple) else value for key, value in opening.config.items()},
        "tasks": [_task(each) for each in opening.tasks],
        "clients": [_ordered(_client(each), last) for each in opening.instances],
        "source": None if opening.time_ms is None else {"time_ms": opening.time_ms},
        "workload": workload,
    }
    return _ordered(_given(found), last)


def _task(task: TaskInfo) -> dict[str, Any]:
    partitions = [
        {
            "topic": each.topic, "partition": each.partition, "source": each.is_source, "changelog": each.is_changelog,
            "racks": list(each.rack_ids or ()),
        }
        for each in task.topic_partitions or ()
    ]  # fmt: skip
    return {
        "id": str(task.id),
        "stateful": task.is_stateful,
        "logged": task.is_logged,
        "stores": None if task.state_store_names is None else list(task.state_store_names),
        "partitions": None if task.topic_partitions is None else partitions,
    }


def _client(instance: OpeningInstance) -> dict[str, Any]:
    reported = instance.reported
    return {
        "process_id": instance.process_id,
        "rack": instance.rack,
        "tags": {},
        "host": None,
        "threads": instance.threads,
        "consumers": list(instance.consumers),
        "previous_active": list(instance.active),
        "previous_standby": list(instance.standby),
        "lags": dict(instance.lags),
        "previous_by_consumer": None if reported is None else {name: list(tasks) for name, tasks in reported.items()},
    }


def _event(event: StreamsEvent) -> dict[str, Any]:
    details = event.details
    given = {
        each.name: getattr(details, each.name)
        for each in attrs.fields(EventDetails)
        if each.eq and getattr(details, each.name) != each.default
    }
    client = {"client": event.client} if event.client else {}
    fields = {"at_ms": event.at_ms, "type": event.type, **client, **_ordered(given, details.added)}
    return {key: _written(value) for key, value in fields.items()}


def _written(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple):
        return list(value)
    return value if isinstance(value, int | float | str) else str(value)


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _ordered(fields: Mapping[str, Any], last: Collection[str]) -> dict[str, Any]:
    first = {key: value for key, value in fields.items() if key not in last}
    return first | {key: fields[key] for key in last if key in fields}
