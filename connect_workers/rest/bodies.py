"""Reads request bodies as Connect does: every scalar is a text, and an unexpected body is an error 500.

Connect's JSON reader fails with an exception that nothing maps to another status (Kafka: ``connect.runtime.rest``). The
texts here are our own: they have the same place, without the names of Java classes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import attrs

from connect_workers.contract import BadRequestError, Offset
from connect_workers.rest.answers import RestError

__all__ = ["CreateConnector", "read_config", "read_create", "read_offsets", "read_task_configs"]

_STATES = {"RUNNING": "running", "PAUSED": "paused", "STOPPED": "stopped"}
_SURROGATE = re.compile("[\ud800-\udfff]")
#: Characters that Java's ``trim`` removes.
_BLANKS = "".join(map(chr, range(33)))
_MAX_DEPTH = 200
#: Brackets, and strings as a whole; one that does not end reaches to the end, which keeps the search linear.
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


@attrs.frozen
class CreateConnector:
    """Body of ``POST /connectors``; ``name`` is trimmed, and empty if there was none."""

    name: str
    config: dict[str, str | None]
    initial_state: str | None


def read_create(body: bytes) -> CreateConnector:
    """Reads the body of ``POST /connectors``.

    Raises:
        RestError: with status 500, as Connect answers; 400 for text that is not Unicode.
    """
    fields = _fields(_parse(body), {"name", "config", "initial_state"})
    name = _text(fields.get("name"), "name")
    state = _text(fields.get("initial_state"), "initial_state")
    if state is not None and state.upper() not in _STATES:
        _refuse(f"Unknown initial_state {state!r:.40}: running, paused or stopped are possible")
    return CreateConnector(
        (name or "").strip(_BLANKS),
        _texts(fields.get("config"), "config"),
        None if state is None else _STATES[state.upper()],
    )


def read_config(body: bytes) -> dict[str, str | None]:
    """Reads a flat map, such as a connector's configuration.

    Raises:
        RestError: with status 500, as Connect answers; 400 for text that is not Unicode.
    """
    return _texts(_parse(body), "the body")


def read_task_configs(body: bytes) -> list[dict[str, str]]:
    """Reads a list of flat maps without nulls.

    Raises:
        RestError: with status 500, as Connect answers; 400 for text that is not Unicode.
    """
    document = _parse(body)
    if not isinstance(document, list):
        _refuse(f"Expected a list of task configurations, not {_kind(document)}")
    configs = [_texts(each, f"task configuration {number}") for number, each in enumerate(document)]
    return [{key: value for key, value in config.items() if value is not None} for config in configs]


def read_offsets(body: bytes) -> list[Offset]:
    """Reads ``{"offsets": [{"partition": {}, "offset": {}}]}``; numbers stay numbers.

    Raises:
        RestError: with status 500, as Connect answers.
        BadRequestError: if there is nothing to alter, or a partition is not given.
    """
    items = _fields(_parse(body, number=None), {"offsets"}).get("offsets")
    if items is None or items == []:
        raise BadRequestError("Partitions / offsets need to be provided for an alter offsets request")
    if not isinstance(items, list):
        _refuse(f"Expected a list of offsets, not {_kind(items)}")
    return [_offset(item, number) for number, item in enumerate(items)]


# --- steps ----------------------------------------------------------------------------------------


def _offset(item: object, number: int) -> Offset:
    if item is None:
        _refuse(f"offsets[{number}] is null")
    fields = _fields(item, {"partition", "offset"})
    partition, value = fields.get("partition"), fields.get("offset")
    for name, given in (("partition", partition), ("offset", value)):
        if given is not None and not isinstance(given, dict):
            _refuse(f"offsets[{number}].{name} has to be an object, not {_kind(given)}")
    if partition is None:
        raise BadRequestError(f"offsets[{number}] names no partition")
    return Offset(partition, value)


def _parse(body: bytes, *, number: Callable[[str], Any] | None = str) -> object:
    """The document; ``number`` converts the text of a number, to Python's numbers by default."""
    try:
        text = body.decode(json.detect_encoding(body))
    except UnicodeDecodeError as error:
        _refuse(f"The body is not valid {error.encoding.upper()} (byte {error.start})")
    if not text.strip(" \t\r\n"):
        return None
    if _depth(text) > _MAX_DEPTH:
        _refuse(f"The JSON text is nested more than {_MAX_DEPTH} levels deep")
    try:
        document = json.loads(text, parse_int=number, parse_float=number, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        _refuse(f"Malformed JSON: {error.msg} (line {error.lineno}, column {error.colno})")
    except ValueError:
        # Python bounds the digits of an integer that it reads.
        _refuse("Malformed JSON: a number has too many digits")
    if "\\u" in text:
        _check_unicode(document)
    return document


def _depth(text: str) -> int:
    """The deepest nesting of brackets, those inside strings not counted."""
    deepest = level = 0
    for sign in _BRACKETS.finditer(text):
        if sign[0] in "[{":
            level += 1
            deepest = max(deepest, level)
        elif sign[0] in "]}":
            level -= 1
    return deepest


def _no_constant(text: str) -> NoReturn:
    _refuse(f"Malformed JSON: {text} is not a JSON value")


def _check_unicode(document: object) -> None:
    if isinstance(document, str):
        if _SURROGATE.search(document):
            raise BadRequestError("A text in the body is not Unicode: half of a surrogate pair")
    elif isinstance(document, dict):
        for key, value in document.items():
            _check_unicode(key)
            _check_unicode(value)
    elif isinstance(document, list):
        for value in document:
            _check_unicode(value)


def _fields(document: object, known: set[str]) -> dict[str, Any]:
    if not isinstance(document, dict):
        _refuse(f"Expected a JSON object with {', '.join(sorted(known))}, not {_kind(document)}")
    for field in document:
        if field not in known:
            _refuse(f"Unrecognized field {field!r:.80}; known are {', '.join(sorted(known))}")
    return document


def _texts(document: object, where: str) -> dict[str, str | None]:
    if not isinstance(document, Mapping):
        _refuse(f"Expected {where} to be a JSON object of texts, not {_kind(document)}")
    return {key: _text(value, key) for key, value in document.items()}


def _text(value: object, where: str) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is not None and not isinstance(value, str):
        _refuse(f"The value of {where!r:.80} has to be a text, not {_kind(value)}")
    return value


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "a single value"


def _refuse(message: str) -> NoReturn:
    raise RestError(500, message)
