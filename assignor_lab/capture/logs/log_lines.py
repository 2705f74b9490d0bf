"""Unwraps log lines from container runtimes, `docker compose`, `kubectl --prefix` and JSON.

Container runtimes put a time and a stream before each line and cut long lines. Kafka's own words locate the message
later, so this module knows no pattern of log4j or logback.
"""

from __future__ import annotations

import json
import re
from typing import Any

import attrs

from assignor_lab.capture.errors import LogLineTooLongError
from assignor_lab.capture.logs.log_files import MAX_LINE_BYTES, RawLine
from assignor_lab.capture.logs.messages import MARKERS
from assignor_lab.capture.logs.timestamps import LogTime, find_time, time_of_fields

__all__ = ["LogText", "Unwrapper"]

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CRI = re.compile(r"\A(\d{4}-\d\d-\d\dT\S+) (stdout|stderr) ([FP])(?::\S+)? ")
#: With a level or a number the prefix is part of a layout.
_COMPOSE = re.compile(
    r"\A\s{0,8}(?!(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\s)(?=[\w.-]*[A-Za-z])([A-Za-z0-9][\w.-]*)\s+\| ?"
)
_POD = re.compile(r"\A\[(pod/[^\]\s]+)\] ")
#: Docker's json-file driver cuts longer lines.
_DOCKER_PIECE_BYTES = 16 * 1024
_MAX_NESTING = 4
_MAX_BEFORE_JSON = 512


@attrs.frozen
class LogText:
    """The application's own text of one line, or of a multi-line message in one record.

    Args:
        stream: One of several sources in a file; empty for a plain file.
        column: Characters of the line before ``text``; ``None`` if they cannot be counted.
        thread: From a JSON field.
        whole: True if the message is complete.
    """

    line: int
    stream: str
    text: str
    column: int | None
    time: LogTime | None = None
    thread: str | None = None
    whole: bool = False


@attrs.define
class _Cut:
    """A line with its first pieces only."""

    line: int
    pieces: list[str] = attrs.field(factory=list)
    length: int = 0


@attrs.define
class Unwrapper:
    """Unwraps the lines of one file in order, and joins cut lines."""

    name: str
    _cut: dict[str, _Cut] = attrs.field(init=False, factory=dict)

    @property
    def waiting(self) -> bool:
        return bool(self._cut)

    def unwrap(self, raw: RawLine) -> LogText | None:
        """``None`` while pieces of a longer line are missing."""
        text = raw.data.decode("utf-8", "replace")
        if "\x1b" in text:
            text = _COLOUR.sub("", text)
        runtime = _CRI.match(text)
        if runtime:
            content = LogText(raw.number, runtime[2], text[runtime.end() :], runtime.end(), find_time(runtime[1]))
            cut = runtime[3] == "P"
        elif text.startswith("{") and (docker := _docker_record(text, raw.number)) is not None:
            content = docker
            cut = not content.text.endswith("\n") and len(content.text.encode()) >= _DOCKER_PIECE_BYTES
        else:
            return _unprefixed(LogText(raw.number, "", text, 0))
        if cut:
            self._keep(content)
            return None
        return _unprefixed(self._completed(content))

    def _keep(self, content: LogText) -> None:
        cut = self._cut.setdefault(content.stream, _Cut(content.line))
        cut.pieces.append(content.text)
        cut.length += len(content.text)
        if cut.length > MAX_LINE_BYTES:
            raise LogLineTooLongError(
                self.name,
                cut.line,
                f"the pieces of this line are longer than {MAX_LINE_BYTES // 2**20} MiB together",
                "take the line out and import the rest",
            )

    def _completed(self, content: LogText) -> LogText:
        content = attrs.evolve(content, text=content.text.rstrip("\r\n"))
        cut = self._cut.pop(content.stream, None)
        if cut is None:
            return content
        return attrs.evolve(content, line=cut.line, text="".join([*cut.pieces, content.text]), column=None)


def _docker_record(text: str, line: int) -> LogText | None:
    fields = _json_object(text)
    if fields is None or not isinstance(fields.get("log"), str):
        return None
    stream = str(fields.get("stream", ""))
    return LogText(line, stream, _encodable(fields["log"]), None, time_of_fields(fields))


def _unprefixed(log_text: LogText) -> LogText:
    text = log_text.text
    named = _POD.match(text) or _COMPOSE.match(text)
    if named:
        column = None if log_text.column is None else log_text.column + named.end()
        log_text = attrs.evolve(
            log_text, stream=f"{log_text.stream} {named[1]}", text=text[named.end() :], column=column
        )
    return _out_of_json(log_text, 0)


def _out_of_json(log_text: LogText, depth: int) -> LogText:
    text = log_text.text.rstrip()
    start = text.find('{"', 0, _MAX_BEFORE_JSON)
    if depth == _MAX_NESTING or start < 0 or not text.endswith("}"):
        return log_text
    fields = _json_object(text[start:])
    if fields is None:
        return log_text
    message = _message(fields, 0) or fields.get("message")
    if not isinstance(message, str):
        return log_text
    thread = next((str(fields[key]) for key in ("thread", "thread_name", "threadName") if key in fields), None)
    inner = LogText(
        log_text.line,
        log_text.stream,
        _encodable(message).rstrip("\r\n"),
        None,
        time_of_fields(fields) or log_text.time or find_time(text[:start]),
        thread or log_text.thread,
        whole=True,
    )
    return _out_of_json(inner, depth + 1)


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _message(value: object, depth: int) -> str | None:
    """The longest text with a message of Kafka's, at any depth."""
    if isinstance(value, str):
        return value if any(marker in value for marker in MARKERS) else None
    if depth == _MAX_NESTING or not isinstance(value, (dict, list)):
        return None
    children = value.values() if isinstance(value, dict) else value
    found = [text for child in children if (text := _message(child, depth + 1)) is not None]
    return max(found, key=len, default=None)


def _encodable(text: str) -> str:
    # JSON can hold half a surrogate pair, which UTF-8 output cannot.
    return text.encode("utf-8", "replace").decode()
