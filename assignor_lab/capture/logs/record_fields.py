"""Message, time, thread and source of a log record with named fields: a JSON object, or a row of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assignor_lab.capture.logs.messages import MARKERS

__all__ = ["HOST_NAMES", "MESSAGE_NAMES", "longest_marked", "message_of", "named_text", "thread_of_fields"]

#: Names of fields in lower case, the most reliable first.
MESSAGE_NAMES = (
    "message", "@message", "msg", "_raw", "log", "line", "textpayload", "full_message", "short_message", "body",
    "content", "text", "event", "logmessage", "log_message", "original", "rawdata", "value",
)  # fmt: skip
HOST_NAMES = (
    "pod", "pod_name", "podname", "container_id", "containerid", "container_name", "containername", "container",
    "host", "hostname", "host_name", "node", "node_name", "instance", "logstreamname", "@logstream", "computer",
    "_hostname",
)  # fmt: skip
_TRACE_NAMES = ("stack_trace", "stacktrace", "exception", "throwable")
_THREAD_NAMES = ("thread", "thread_name", "threadname")
_MAX_NESTING = 4


def message_of(fields: Mapping[str, Any]) -> str | None:
    """The longest text with words of Kafka's messages, or else the field that is named as a message.

    The stack trace of an exception follows on lines of its own.
    """
    message = longest_marked(fields) or named_text(fields, MESSAGE_NAMES)
    trace = None if message is None else named_text(fields, _TRACE_NAMES)
    return message if trace is None or message is None or trace in message else f"{message}\n{trace}"


def longest_marked(value: object, markers: Sequence[str] = MARKERS, depth: int = 0) -> str | None:
    """The longest text with one of the markers, at any depth."""
    if isinstance(value, str):
        return value if any(marker in value for marker in markers) else None
    if depth == _MAX_NESTING or not isinstance(value, (dict, list)):
        return None
    children = value.values() if isinstance(value, dict) else value
    found = [text for child in children if (text := longest_marked(child, markers, depth + 1)) is not None]
    return max(found, key=len, default=None)


def named_text(fields: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The field of the first name that has a text; objects within the record come last."""
    return next(_named_texts(fields, names, 0), None)


def _named_texts(fields: Mapping[str, Any], names: Sequence[str], depth: int) -> Iterator[str]:
    lower = {name.lower(): value for name, value in fields.items()}
    yield from (value for name in names if isinstance(value := lower.get(name), str) and value)
    if depth < _MAX_NESTING:
        for name, value in lower.items():
            if isinstance(value, dict):
                # The common schema of Elastic has a host with a name.
                if name in names and isinstance(inner := value.get("name"), str):
                    yield inner
                yield from _named_texts(value, names, depth + 1)


def thread_of_fields(fields: Mapping[str, Any]) -> str | None:
    return next((str(value) for name, value in fields.items() if name.lower() in _THREAD_NAMES), None)
