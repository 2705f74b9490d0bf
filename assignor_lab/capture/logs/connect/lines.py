"""Lines of Connect workers' logs in any wrapping, each with its process and its message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import PathLike
from typing import BinaryIO

import attrs

from assignor_lab.capture.logs.connect.errors import GarbledMessageError
from assignor_lab.capture.logs.connect.messages import Message, read_message
from assignor_lab.capture.logs.log_files import RawLine
from assignor_lab.capture.logs.log_lines import LogText, Unwrapper
from assignor_lab.capture.logs.timestamps import LogTime, find_time
from assignor_lab.documents.lines import bounded_lines, source_name

__all__ = ["LogSource", "WorkerLine", "worker_lines"]

LogSource = str | PathLike[str] | BinaryIO

_MARKER = b"[Worker clientId="
_WORKER = re.compile(r"\A(?>.*?\[Worker clientId=)(?>(.*?), groupId=)(.*?)\]")
_HEAD, _BEFORE_MESSAGE = 2_000, 120


@attrs.frozen
class WorkerLine:
    """A line with a message about the group.

    Args:
        stream: One of several sources in the file, such as a pod; empty for a plain file.
        worker: The client id.
        time: ``None`` without a time.
        message: ``None`` if the line starts as a message of Kafka's, but continues otherwise.
        problem: Then the reason, else empty.
    """

    file: str
    line: int
    stream: str
    worker: str
    group: str
    time: LogTime | None
    message: Message | None
    problem: str = ""

    @property
    def time_ms(self) -> int | None:
        return None if self.time is None else self.time.epoch_ms()


def worker_lines(source: LogSource) -> Iterator[WorkerLine]:
    """The lines of one log, plain or gzip."""
    name = source_name(source)
    unwrapper = Unwrapper(name)
    for number, line in bounded_lines(source):
        if _MARKER not in line and b"clientId=" not in line and not unwrapper.waiting:
            continue
        text = unwrapper.unwrap(RawLine(number, line.rstrip(b"\r\n")))
        if text is not None and (found := _worker_line(name, text)) is not None:
            yield found


def _worker_line(name: str, text: LogText) -> WorkerLine | None:
    worker = _WORKER.search(text.text, 0, _HEAD)
    if worker is None:
        return None
    message, problem = None, ""
    try:
        message = read_message(text.text)
    except GarbledMessageError as error:
        problem = f"line {text.line}: {error}"
    if message is None and not problem:
        return None
    own = find_time(text.text[:_BEFORE_MESSAGE])
    is_zoned = own is not None and (own.offset_ms is not None or text.time is None)
    time = own if is_zoned or text.time is None else text.time
    return WorkerLine(name, text.line, text.stream, worker[1], worker[2], time, message, problem)
