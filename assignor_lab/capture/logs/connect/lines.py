"""Lines of Connect workers' logs in any wrapping, each with its process and its message."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from os import PathLike, fspath
from typing import BinaryIO

import attrs

from assignor_lab.capture.logs.connect.errors import GarbledMessageError
from assignor_lab.capture.logs.connect.messages import Message, read_message
from assignor_lab.capture.logs.log_lines import LogText
from assignor_lab.capture.logs.log_texts import open_log
from assignor_lab.capture.logs.open_dates import LogClock, LogDates
from assignor_lab.capture.logs.timestamps import LogTime
from assignor_lab.documents.lines import STANDARD_INPUT, source_name

__all__ = ["LogSource", "WorkerLine", "worker_lines"]

LogSource = str | PathLike[str] | BinaryIO

_MARKERS = ("[Worker clientId=",)
_WORKER = re.compile(r"\A(?>.*?\[Worker clientId=)(?>(.*?), groupId=)(.*?)\]")
_HEAD, _BEFORE_MESSAGE = 2_000, 200


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


def worker_lines(source: LogSource, dates: LogDates | None = None) -> Iterator[WorkerLine]:
    """The lines of one log in any form, oldest first.

    Raises:
        LogImportError: if it cannot be read.
    """
    if isinstance(source, (str, PathLike)):
        texts, file = open_log(fspath(source), sys.stdin.buffer, dates, _MARKERS)
        name = texts.name if fspath(source) == STANDARD_INPUT else fspath(source)
        closing: contextlib.AbstractContextManager[object] = contextlib.closing(file)
    else:
        # The caller closes its stream.
        texts, _ = open_log(STANDARD_INPUT, source, dates, _MARKERS)
        name, closing = source_name(source), contextlib.nullcontext()
    with closing:
        for text in texts:
            if (found := _worker_line(name, text, texts.clock)) is not None:
                yield found


def _worker_line(name: str, text: LogText, clock: LogClock) -> WorkerLine | None:
    worker = _WORKER.search(text.text, 0, _HEAD)
    if worker is None:
        return None
    message, problem = None, ""
    try:
        message = read_message(text.text)
    except GarbledMessageError as error:
        problem = f"line {text.line}: {error}"
    own = clock.find(text.text[: min(worker.start(1), _BEFORE_MESSAGE)], text.stream)
    if message is None and not problem:
        return None
    wrapped = text.time
    # The application's own time, unless only the wrapping has a zone.
    is_better = own is None or (own.offset_ms is None and wrapped is not None and wrapped.offset_ms is not None)
    return WorkerLine(
        name, text.line, text.stream, worker[1], worker[2], wrapped if is_better else own, message, problem
    )
