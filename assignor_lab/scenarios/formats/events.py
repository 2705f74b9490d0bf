"""Events of a group in ``source.events`` of a decision: their fields by the class of the event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.documents.errors import Place
from assignor_lab.documents.shapes import (
    LONG_MAX,
    LONG_MIN,
    Check,
    Mismatch,
    boolean,
    list_of,
    nullable,
    record,
    suggestion,
    text,
    whole,
)
from assignor_lab.model import events as model
from assignor_lab.model.events import GroupEvent
from assignor_lab.model.evidence import Evidence
from assignor_lab.model.moment import Moment

__all__ = ["check_events", "event_record", "read_events"]

_TIME = whole(LONG_MIN, LONG_MAX)
_LINE = whole(0, LONG_MAX)
#: By the annotation of a field.
_FIELDS: Mapping[str, Check[Any]] = {
    "bool": boolean,
    "int": _TIME,
    "int | None": nullable(_TIME),
    "str": text,
    "str | None": nullable(text),
    "tuple[str, ...]": list_of(text),
}
_CLASSES: Mapping[str, type[GroupEvent]] = {
    getattr(model, name).word(): getattr(model, name) for name in model.__all__ if name != "GroupEvent"
}
_ENVELOPE = ("at", "evidence")


def _own(of: type[GroupEvent]) -> dict[str, Check[Any]]:
    return {field.name: _FIELDS[str(field.type)] for field in attrs.fields(of) if field.name not in _ENVELOPE}


_CHECKS: Mapping[str, Check[Any]] = {
    word: record({"type": text, "earliest_ms": _TIME, "latest_ms": _TIME}, {"file": text, "line": _LINE, **_own(of)})
    for word, of in _CLASSES.items()
}


def _check_event(value: Any) -> Any:
    word = value.get("type") if type(value) is dict else None
    if type(word) is not str or word not in _CHECKS:
        hint = suggestion(str(word), sorted(_CHECKS), "types")
        raise Mismatch(f"unknown type {word!r:.80} of event: {hint}", "type")
    found = _CHECKS[word](value)
    required = {field.name for field in attrs.fields(_CLASSES[word]) if field.default is attrs.NOTHING}
    if missing := sorted(required - {*_ENVELOPE} - found.keys()):
        raise Mismatch(f"missing: {', '.join(missing)}")
    if found["latest_ms"] < found["earliest_ms"]:
        raise Mismatch("it is before earliest_ms", "latest_ms")
    return found


check_events = list_of(_check_event)


def event_record(event: GroupEvent) -> dict[str, Any]:
    place = event.evidence.place
    own = {key: value for key, value in attrs.asdict(event, recurse=False).items() if key not in _ENVELOPE}
    return {
        "type": event.type,
        "earliest_ms": event.at.earliest_ms,
        "latest_ms": event.at.latest_ms,
        **({} if place is None else {"file": place.file}),
        **({} if place is None or place.line is None else {"line": place.line}),
        **{key: list(value) if isinstance(value, tuple) else value for key, value in own.items()},
    }


def read_events(documents: Iterable[Mapping[str, Any]], otherwise: Place) -> Iterator[GroupEvent]:
    """Of checked documents; ``otherwise`` is the place of one without a file."""
    for each in documents:
        place = Place(each["file"], each.get("line")) if "file" in each else otherwise
        of = _CLASSES[each["type"]]
        own = {name: _value(each[name]) for name in _own(of) if name in each}
        yield of(Moment(each["earliest_ms"], each["latest_ms"]), Evidence.line(place), **own)


def _value(value: object) -> object:
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
