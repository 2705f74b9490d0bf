"""Unwraps log lines from container runtimes, `docker compose`, `kubectl --prefix`, quotes of e-mails, and JSON.

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
from assignor_lab.capture.logs.messages import JVM_DIED
from assignor_lab.capture.logs.open_dates import LogClock
from assignor_lab.capture.logs.record_fields import HOST_NAMES, longest_marked, message_of, named_text, thread_of_fields
from assignor_lab.capture.logs.timestamps import LogTime, find_time, time_of_fields

__all__ = ["LogText", "Unwrapper", "unwrapped_text"]

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CRI = re.compile(r"\A(\d{4}-\d\d-\d\dT\S+) (stdout|stderr) ([FP])(?::\S+)? ")
#: With a level or a number the prefix is part of a layout.
_COMPOSE = re.compile(
    r"\A\s{0,8}(?!(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\s)(?=[\w.-]*[A-Za-z])([A-Za-z0-9][\w.-]*)\s+\| ?"
)
_QUOTED = re.compile(r"\A\s{0,8}(?:> ?){1,8}")
_JSON_OBJECT = re.compile(r'\{\s{0,8}"')
#: Of java.util.logging, in the language of the machine.
_LEVEL = re.compile(r"[A-Z]{4,15}: ")
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
    clock: LogClock = attrs.field(factory=LogClock)
    _cut: dict[str, _Cut] = attrs.field(init=False, factory=dict)

    @property
    def waiting(self) -> bool:
        return bool(self._cut)

    def unwrap(self, raw: RawLine) -> LogText | None:
        """``None`` while pieces of a longer line are missing."""
        text = raw.data.decode("utf-8", "replace")
        if "\x1b" in text:
            text = _COLOUR.sub("", text)
        if (quoted := _QUOTED.match(text)) is not None:
            text = text[quoted.end() :]
        runtime = _CRI.match(text)
        if runtime:
            content = LogText(raw.number, runtime[2], text[runtime.end() :], runtime.end(), find_time(runtime[1]))
            cut = runtime[3] == "P"
        elif text.startswith("{") and (docker := self._docker_record(text, raw.number)) is not None:
            content = docker
            cut = not content.text.endswith("\n") and len(content.text.encode()) >= _DOCKER_PIECE_BYTES
        else:
            column = 0 if quoted is None else quoted.end()
            time = self._time_before(text, raw.before) if raw.before else None
            return unwrapped_text(LogText(raw.number, "", text, column, time), self.clock)
        if cut:
            self._keep(content)
            return None
        return unwrapped_text(self._completed(content), self.clock)

    def _time_before(self, text: str, before: bytes) -> LogTime | None:
        """Of the header of java.util.logging, the line before; of a JVM's own line, the latest time before it."""
        named = _POD.match(text) or _COMPOSE.match(text)
        prefix = "" if named is None else named[0]
        is_headed = _LEVEL.match(text, len(prefix)) is not None
        if not is_headed and JVM_DIED not in text:
            return None
        for line in reversed(before.decode("utf-8", "replace").splitlines()):
            quoted = _QUOTED.match(line)
            line = line if quoted is None else line[quoted.end() :]
            if line.startswith(prefix) and ((time := self.clock.find(line)) is not None or is_headed):
                return time
        return None

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

    def _docker_record(self, text: str, line: int) -> LogText | None:
        fields = _json_object(text)
        if fields is None or not isinstance(fields.get("log"), str):
            return None
        stream = str(fields.get("stream", ""))
        return LogText(line, stream, _encodable(fields["log"]), None, time_of_fields(fields, self.clock.find))


def unwrapped_text(log_text: LogText, clock: LogClock) -> LogText:
    """Without the prefixes of tools, and the message of a JSON object."""
    text = log_text.text
    named = _POD.match(text) or _COMPOSE.match(text)
    if named:
        column = None if log_text.column is None else log_text.column + named.end()
        log_text = attrs.evolve(
            log_text, stream=f"{log_text.stream} {named[1]}", text=text[named.end() :], column=column
        )
    return _out_of_json(log_text, clock, 0)


def _out_of_json(log_text: LogText, clock: LogClock, depth: int) -> LogText:
    if depth == _MAX_NESTING or (found := _JSON_OBJECT.search(log_text.text, 0, _MAX_BEFORE_JSON)) is None:
        return log_text
    text = log_text.text.rstrip()
    fields = _json_object(text[found.start() :]) if text.endswith("}") else None
    message = None if fields is None else message_of(fields)
    if longest_marked(text[: found.start()]) is not None:
        return log_text
    if fields is None or message is None:
        return log_text
    inner = _encodable(message).rstrip("\r\n")
    time = time_of_fields(fields, clock.find) or log_text.time or clock.find(text[: found.start()], log_text.stream)
    return _out_of_json(
        LogText(
            log_text.line,
            log_text.stream or named_text(fields, HOST_NAMES) or "",
            inner,
            None,
            time,
            thread_of_fields(fields) or log_text.thread,
            # A collector may make a record of each line.
            whole="\n" in inner,
        ),
        clock,
        depth + 1,
    )


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _encodable(text: str) -> str:
    # JSON can hold half a surrogate pair, which UTF-8 output cannot.
    return text.encode("utf-8", "replace").decode()
