"""Documents of kind ``connect`` and of episodes: their shape.

They are checked down to the level that this project reads so far. What lies deeper is carried along unread, with a
limit on its depth, and is checked where it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assignor_lab.scenarios.formats.streams import read_streams, workload
from assignor_lab.scenarios.shapes import (
    INT_MAX,
    LONG_MAX,
    Check,
    Mismatch,
    any_value,
    boolean,
    count,
    list_of,
    map_of,
    nullable,
    one_of,
    record,
    text,
    whole,
)

__all__ = ["check_connect", "check_connect_episode", "check_streams_episode"]

_EPOCH_MS = whole(0, LONG_MAX)


def _head(kind: str) -> dict[str, Check[Any]]:
    return {"format": whole(1, 1), "kind": one_of(kind), "id": text}


# --- connect --------------------------------------------------------------------------------------

_names = list_of(text)
_connect_member = record(
    {
        "id": text,
        "owned": record({"connectors": _names, "tasks": _names}),
        "static": record({"connectors": nullable(any_value), "tasks": nullable(any_value)}),
    }
)
_connect_round = record(
    {"time_ms": _EPOCH_MS, "connectors": map_of(text, count), "members": list_of(_connect_member)},
    {"new_leader": boolean, "generation_gap": boolean},
)
#: Checks a document of kind ``connect``.
check_connect: Check[Any] = record(
    {
        **_head("connect"),
        "protocol": one_of("eager", "compatible", "sessioned", "static"),
        "max_delay_ms": whole(0, INT_MAX),
        "rounds": list_of(_connect_round),
    },
    {"workload": workload(text)},
)

# --- episodes -------------------------------------------------------------------------------------


def _episode(kind: str, initial: Check[Any]) -> Check[Any]:
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
        {"timings": map_of(text, whole(0, LONG_MAX))},
    )


def _whole_scenario(kind: str, check: Callable[[Any], Any]) -> Check[Any]:
    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise Mismatch(f'expected a whole scenario of kind "{kind}"')
        return check(value)

    return read


#: Checks a document of kind ``streams-episode``.
check_streams_episode: Check[Any] = _episode("streams-episode", _whole_scenario("streams", read_streams))
#: Checks a document of kind ``connect-episode``.
check_connect_episode: Check[Any] = _episode("connect-episode", _whole_scenario("connect", check_connect))
