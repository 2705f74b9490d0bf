"""The lines of a log in any form, unwrapped, oldest first: plain text, JSON, or an export of a collector.

Every reader of logs reads through :func:`open_log`. It hides compression, encodings, tables, JSON, the prefixes of
tools, and logs whose newest line is first.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import attrs

from assignor_lab.capture.errors import LogImportError
from assignor_lab.capture.logs.exports import JsonExport, TableExport, export_of
from assignor_lab.capture.logs.log_files import LineSource, LogBytes, RawLine, opened_log
from assignor_lab.capture.logs.log_lines import LogText, Unwrapper
from assignor_lab.capture.logs.messages import MARKERS
from assignor_lab.capture.logs.open_dates import DateOrder, LogClock, LogDates, date_orders
from assignor_lab.capture.logs.record_fields import longest_marked
from assignor_lab.capture.logs.timestamps import LogTime, first_time
from assignor_lab.documents.lines import STANDARD_INPUT

__all__ = ["LogHead", "LogTexts", "log_head", "open_log"]

#: Texts of the further lines of Kafka's messages: a few other lines have them, too.
_FURTHER = (
    *(f"{key} = " for key in ("id", "instance.id", "lag", "rack", "replicas", "ms", "tags", "strategy", "traffic_cost",
                              "overlap_cost", "optimization", "class", "guarantee")),
    ": [", "=[activeTasks: (", "prev owned ", "assigned active", "assigned standby", "revoking active",
    "Topology: ", "Sub-topology: ", "Source: ", "Processor: ", "Sink: ", "<-- ",
)  # fmt: skip
#: Messages whose further lines follow.
_MANY_LINES = (b"participating in this rebalance: ", b"Assignment of tasks to nodes: ", b" per-consumer assignment:",
               b"sConfig values: ", b"ssigned tasks ")  # fmt: skip
_LONGEST_PREFIX = 1_000
_FEWEST_FALLS, _DISORDER_MS = 3, 1_000
_JSON_MESSAGE = re.compile(r'"(?:@?message|msg|_raw|log|line|textPayload)"\s*:\s*"')
_STATES = re.compile(r'\A\s*\{\s*"format"\s*:')


@attrs.frozen
class LogHead:
    """Facts that the beginning of a log shows.

    Args:
        first: Time of its oldest known line, or ``None``.
        is_newest_first: True if later lines have earlier times.
        orders: Orders of day and month that a date proves.
    """

    text: str
    first: LogTime | None
    is_newest_first: bool
    orders: frozenset[DateOrder]

    @property
    def has_states(self) -> bool:
        return _STATES.match(self.text) is not None

    @property
    def looks_like_records(self) -> bool:
        """True for the words of Kafka's messages, or JSON with a message."""
        return longest_marked(self.text) is not None or _JSON_MESSAGE.search(self.text) is not None


@attrs.define
class LogTexts:
    """The relevant lines of one log, oldest first.

    Args:
        follow: Set by the consumer while it awaits the rest of a message: then every line is relevant.
    """

    name: str
    clock: LogClock
    _head: LogHead
    _data: LogBytes
    _markers: tuple[str, ...]
    follow: bool = False
    #: Damage that left out lines, after the last line.
    fault: str | None = attrs.field(init=False, default=None)

    def __iter__(self) -> Iterator[LogText]:
        export = export_of(self._head.text, self.name, self._data)
        if export is not None:
            yield from self._of_export(export)
            return
        source = LineSource(self.name, self._data, tuple(marker.encode() for marker in self._markers))
        unwrapper = Unwrapper(self.name, self.clock)
        if self._head.is_newest_first:
            source.markers += tuple(text.encode() for text in _FURTHER)
            for raw in _oldest_first(list(source)):
                if (text := unwrapper.unwrap(raw)) is not None:
                    yield text
            return
        source.follow = self.follow
        for raw in source:
            text = unwrapper.unwrap(raw)
            if text is not None:
                yield text
            source.follow = self.follow or unwrapper.waiting

    def doubts(self) -> Iterator[str]:
        """Sentences on damage, and on dates with two meanings; after the last line."""
        if self.fault is not None:
            yield f"{self.fault}: lines may be missing"
        if self.clock.is_order_open:
            order = self.clock.guessed.value
            yield f"dates can be read in two ways, and were read as {order}: give --dates dd/MM or --dates MM/dd"

    def _of_export(self, export: TableExport | JsonExport) -> Iterator[LogText]:
        words = (*self._markers, *_FURTHER)
        texts = [
            text
            for record in export.records()
            if (text := record.text(self.clock)) is not None and any(word in text.text for word in words)
        ]
        self.fault = export.fault
        times = [text.time or first_time(text.text[:_LONGEST_PREFIX]) for text in texts]
        is_newest_first = _descend([time.epoch_ms() for time in times if time is not None])
        yield from reversed(texts) if is_newest_first else texts


def open_log(
    path: str | Path,
    standard_input: BinaryIO | None = None,
    dates: LogDates | None = None,
    markers: Sequence[str] = MARKERS,
) -> tuple[LogTexts, BinaryIO]:
    """The relevant lines of a log; the caller closes the file.

    Args:
        path: Any name; the content shows the form. ``-`` is the standard input.
        dates: Facts about dates without year, or with an open order of day and month.
        markers: A line, row or object with one of these texts is relevant.

    Raises:
        UnreadableLogError: if it cannot be read; damaged gzip data raise it later.
    """
    name, head, data, file = opened_log(path, standard_input)
    found = _head_of(head, dates or LogDates())
    shown = next(iter(found.orders)) if len(found.orders) == 1 else None
    return LogTexts(name, LogClock(dates or LogDates(), shown), found, data, tuple(markers)), file


def log_head(path: str | Path, dates: LogDates | None = None) -> LogHead | None:
    """``None`` for a file that can be read only once, or not at all."""
    if str(path) == STANDARD_INPUT or not Path(path).is_file():
        return None
    try:
        _, head, _, file = opened_log(path)
    except LogImportError:
        return None  # the real read reports the error
    with contextlib.closing(file):
        return _head_of(head, dates or LogDates())


def _head_of(data: bytes, dates: LogDates) -> LogHead:
    text = data.decode("utf-8", "replace")
    lines = [line[:_LONGEST_PREFIX] for line in text.splitlines()]
    orders = frozenset(date_orders(lines))
    clock = LogClock(dates, next(iter(orders)) if len(orders) == 1 else None)
    found = [time for line in lines if (time := clock.first(line)) is not None]
    times = [time.epoch_ms() for time in found if time.is_dated] or [time.epoch_ms() for time in found]
    is_newest_first = _descend(times)
    first = None if not found else found[-1] if is_newest_first else found[0]
    return LogHead(text, first, is_newest_first, orders)


def _descend(times: Sequence[int]) -> bool:
    """True if most neighbours descend. Threads write slightly out of order."""
    falls = sum(after < before for before, after in pairwise(times))
    rises = sum(after > before for before, after in pairwise(times))
    is_clear = falls >= _FEWEST_FALLS or (falls > 0 and times[0] - times[-1] >= _DISORDER_MS)
    return is_clear and falls > 2 * rises and times[-1] < times[0]


def _oldest_first(lines: list[RawLine]) -> Iterator[RawLine]:
    """Further lines stay behind the first line of their message, if each message was kept together."""
    votes = 0
    for before, line, after in zip([None, *lines], lines, [*lines[1:], None], strict=False):
        if any(words in line.data for words in _MANY_LINES):
            votes += (after is not None and _is_further(after)) - (before is not None and _is_further(before))
    if votes <= 0:
        yield from reversed(lines)
        return
    block: list[RawLine] = []
    for line in reversed(lines):
        block.append(line)
        if not _is_further(line):
            yield from reversed(block)
            block = []
    yield from reversed(block)


def _is_further(line: RawLine) -> bool:
    """True for a line without the words of a message."""
    return not any(marker.encode() in line.data for marker in MARKERS)
