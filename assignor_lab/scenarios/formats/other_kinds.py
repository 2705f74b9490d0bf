"""Documents of episodes: their shape.

They are checked down to the level that this project reads here. Deeper parts are kept unread, with a limit on their
depth, and are checked by their readers.
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
    nullable,
    number,
    one_of,
    open_record,
    record,
    text,
    whole,
)
from assignor_lab.scenarios.formats.connect import read_connect
from assignor_lab.scenarios.formats.streams import read_streams
from assignor_lab.scenarios.scenario import EpisodeContent
from assignor_lab.scenarios.settings import check_settings

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


_MOMENT = whole(-LONG_MAX, LONG_MAX)
_HELD = open_record({"active": list_of(text), "standby": list_of(text)})
_GENERATION = open_record(
    {"t_ms": _MOMENT, "assignment_t_ms": _MOMENT, "assigned": map_of(text, _HELD)},
    {"generation": nullable(_MOMENT), "reason": text, "members": _EPOCH_MS, "followup": text},
)


def _interruption(value: Any) -> Any:
    if len(list_of(_MOMENT)(value)) != 2:
        raise Mismatch("expected when it began, and for how long it was")
    return value


_WINDOW = open_record(
    {"t_ms": _MOMENT, "end_ms": _MOMENT, "action": text, "tasks": map_of(text, list_of(_interruption))},
    {"restored_bytes": nullable(number), "standby_bytes": nullable(number)},
)
_FOLLOWED = nullable(
    open_record(
        {},
        {
            "generations": list_of(_GENERATION),
            "changes": list_of(_MOMENT),
            "probe": list_of(_WINDOW),
            "downtime": open_record(
                {"tasks": map_of(text, list_of(_interruption))},
                {"shows_restoring": boolean, "bounds_s": list_of(number)},
            ),
        },
    )
)


def _recorded(value: Any) -> Any:
    """The real consequences: the parts that are read are checked, and everything is kept."""
    any_value(value)
    _FOLLOWED(value)
    return value


#: Further keys of an episode of a Streams group; the simulation checks them further.
_STREAMS_KEYS: Mapping[str, Check[Any]] = {
    "protocol": text,
    "assignor": text,
    "settings": check_settings,
    "changelogs": map_of(text, any_value),
    "missing_topics": list_of(text),
    "eos": boolean,
    "coming_refiner": boolean,
    "assumptions": list_of(text),
    "recorded": _recorded,
    "plays": any_value,
    "waits": any_value,
    "past_timings": any_value,
}

_check_streams = _episode("streams-episode", _whole_scenario("streams", read_streams), _STREAMS_KEYS)


def read_streams_episode(document: Any) -> EpisodeContent:
    """Checks a document of kind ``streams-episode``, and reads its initial application."""
    return EpisodeContent(_check_streams(document)["initial"])


check_connect_episode: Check[Any] = _episode(
    "connect-episode", _whole_scenario("connect", read_connect), {"leader": text}
)
