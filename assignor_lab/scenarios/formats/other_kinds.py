"""Documents of episodes: their shape.

They are checked down to the level that this project reads so far. What lies deeper is carried along unread, with a
limit on its depth, and is checked where it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assignor_lab.documents.shapes import (
    LONG_MAX,
    Check,
    Mismatch,
    any_value,
    boolean,
    list_of,
    map_of,
    one_of,
    record,
    text,
    whole,
)
from assignor_lab.scenarios.formats.connect import read_connect
from assignor_lab.scenarios.formats.streams import read_streams
from assignor_lab.scenarios.scenario import EpisodeContent

__all__ = ["check_connect_episode", "read_streams_episode"]

_EPOCH_MS = whole(0, LONG_MAX)


def _head(kind: str) -> dict[str, Check[Any]]:
    return {"format": whole(1, 1), "kind": one_of(kind), "id": text}


def _episode(kind: str, initial: Check[Any], optional: Mapping[str, Check[Any]] | None = None) -> Check[Any]:
    event = map_of(text, any_value)

    def timed_event(value: Any) -> Mapping[str, Any]:
        fields = event(value)
        record({"at_ms": _EPOCH_MS, "type": text})({key: fields[key] for key in ("at_ms", "type") if key in fields})
        return fields

    return record(
        {
            **_head(kind),
            "initial": initial,
            "events": list_of(timed_event),
            "until_ms": _EPOCH_MS,
        },
        {"timings": map_of(text, whole(0, LONG_MAX)), **(optional or {})},
    )


def _whole_scenario(kind: str, check: Callable[[Any], Any]) -> Check[Any]:
    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise Mismatch(f'expected a whole scenario of kind "{kind}"')
        return check(value)

    return read


#: What an episode of a Streams group may say besides; the simulation checks it further.
_STREAMS_KEYS: Mapping[str, Check[Any]] = {
    "protocol": text,
    "assignor": text,
    "changelogs": map_of(text, any_value),
    "missing_topics": list_of(text),
    "eos": boolean,
    "coming_refiner": boolean,
    "assumptions": list_of(text),
    "recorded": any_value,
}

_check_streams = _episode("streams-episode", _whole_scenario("streams", read_streams), _STREAMS_KEYS)


def read_streams_episode(document: Any) -> EpisodeContent:
    """Checks a document of kind ``streams-episode``, and reads the application that it begins with."""
    return EpisodeContent(_check_streams(document)["initial"])


#: Checks a document of kind ``connect-episode``.
check_connect_episode: Check[Any] = _episode("connect-episode", _whole_scenario("connect", read_connect))
