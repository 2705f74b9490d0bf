"""Cuts a log into the messages that concern assignment, each with all its lines.

Which message a line begins is known by Kafka's own words. Some messages go on over several lines; those are
collected even where lines of other containers stand in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from assignor_lab.capture.logs.log_files import LineSource
from assignor_lab.capture.logs.log_lines import LogText, Unwrapper
from assignor_lab.capture.logs.messages import OF_EPOCHS, Kind
from assignor_lab.capture.logs.timestamps import LogTime, find_time

__all__ = ["LogRecord", "RecordReader"]


_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
#: What the further lines of a message look like, anywhere in the line.
_FURTHER_LINES = {
    # Keys are sorted, so these are never far from one another.
    Kind.STREAMS_CONFIG: re.compile(
        r"(?<![\w.])(?:acceptable\.recovery\.lag|application\.id|client\.id|max\.warmup\.replicas|num\.standby\.replicas|"
        r"probing\.rebalance\.interval\.ms|rack\.aware\.assignment\.[a-z_]+|topology\.optimization) = "
    ),
    Kind.CONSUMER_CONFIG: re.compile(r"(?<![\w.])(?:client\.id|client\.rack|group\.id) = "),
    Kind.PARTICIPANTS: re.compile(rf"{_UUID}: \["),
    Kind.TASKS: re.compile(r"and stateless tasks: "),
    Kind.PLACEMENT: re.compile(rf"{_UUID}=\[activeTasks: \("),
    Kind.OLD_PLACEMENT: re.compile(rf"{_UUID}=\[activeTasks: \("),
    Kind.CONSUMERS: re.compile(
        r"(?:prev owned active|prev owned standby|assigned active|revoking active|"
        r"assigned standby) \{"
    ),
}
#: What a member of a group of the streams protocol (KIP-1071) logs with the words of an older leader.
_OF_STREAMS_PROTOCOL = "ssigned tasks with local epoch "
_RESTORING = frozenset({Kind.END_OFFSET, Kind.RESTORED, Kind.RESTORED_TASK})
#: Messages of one line that are no part of a rebalance at its leader.
_BESIDE = (
    frozenset({Kind.PREPARING, Kind.STABILIZED, Kind.RECEIVED, Kind.CLIENT, Kind.JOINING, Kind.CORRUPTED})
    | {Kind.CONNECT_WORKER}
    | OF_EPOCHS
    | _RESTORING
)
#: Words before the marker that belong to the message.
_LEAD = {
    Kind.PARTICIPANTS: re.compile(r"(?:(?<!\d)\d+ client nodes and \d+ consumers |(?<!\d)\d+ members |All members )\Z"),
    Kind.CONSUMERS: re.compile(rf"Client {_UUID}\Z"),
    Kind.ASSIGNOR: re.compile(r"Instantiated \S+\Z"),
    Kind.FINISHED: re.compile(r"Finished (?:un)?\Z"),
    Kind.END_OFFSETS_FAILED: re.compile(r"Failed to (?:fetch|retrieve all)\Z"),
    Kind.PROBING: re.compile(r"Requesting followup rebalance (?s:.*)\Z"),
    **dict.fromkeys(_RESTORING, re.compile(r"(?:state-updater|stream-thread) \[[^\[\]]*\] \Z")),
    **dict.fromkeys(OF_EPOCHS, re.compile(r"\[GroupId (?s:.*)\Z")),
}
_STREAM_THREAD = re.compile(r"\Astream-thread \[(.*?)\] ")
_CONSUMER = re.compile(r"\A\[Consumer (?>(?:instanceId=.*?, )?clientId=)(?>(.*?), groupId=)(.*?)\] ")
_LAYOUT_THREAD = re.compile(r"(?<![^\s\[\]()|,])([^\s\[\]()|,]*-StreamThread-\d+)")
#: A message is taken for complete after so many lines of other kinds.
_MAX_FOREIGN_LINES = 100


@attrs.frozen
class LogRecord:
    """One message of Kafka.

    Args:
        kind: Which one.
        file: The file's name as it was given.
        line: Number of its first line.
        column: Characters before ``text`` in that line, or ``None`` where they cannot be counted.
        text: The message; the lines of a longer one are joined by line ends.
        thread: Client id of the consumer whose thread wrote it (``...-StreamThread-1-consumer``), if the message
            names it.
        layout_thread: Name of the thread (``...-StreamThread-1``) where only the layout has it; some layouts cut
            its beginning off.
        group: Consumer group, if the message names it.
        time: When it was logged, if the line says.
        stream: What tells several sources in one file apart.
    """

    kind: Kind
    file: str
    line: int
    column: int | None
    text: str
    thread: str | None = None
    layout_thread: str | None = None
    group: str | None = None
    time: LogTime | None = None
    stream: str = ""


@attrs.define
class _Open:
    """A message that may go on."""

    record: LogRecord
    lines: list[str]
    foreign_lines: int = 0

    def complete(self) -> LogRecord:
        return attrs.evolve(self.record, text="\n".join(self.lines))


@attrs.define
class RecordReader:
    """Reads one log after another; a message may begin in one and end in the next, as parts of a rotated log do."""

    _waiting: dict[str, _Open] = attrs.field(init=False, factory=dict)

    def read(self, source: LineSource) -> Iterator[LogRecord]:
        """Yields the messages of a log in the order in which they are complete.

        Raises:
            LogImportError: if the file cannot be read, or a line is too long.
        """
        unwrapper = Unwrapper(source.name)
        source.follow = bool(self._waiting)
        for raw in source:
            log_text = unwrapper.unwrap(raw)
            if log_text is not None:
                yield from self._records_of(log_text, source.name)
            source.follow = bool(self._waiting) or unwrapper.waiting

    def finish(self) -> Iterator[LogRecord]:
        """Yields the messages that the end of the logs has completed."""
        waiting, self._waiting = self._waiting, {}
        for message in waiting.values():
            yield message.complete()

    def _records_of(self, log_text: LogText, name: str) -> Iterator[LogRecord]:
        stream = log_text.stream
        for number, line in enumerate(log_text.text.split("\n")):
            begun = _begin(log_text, line, name, first=number == 0)
            if begun is None:
                yield from self._go_on(line, stream)
                continue
            if begun.kind in _BESIDE:
                # Of another thread, or another program: nothing ends with it.
                yield begun
                continue
            if stream in self._waiting:
                yield self._waiting.pop(stream).complete()
            if begun.kind in _FURTHER_LINES:
                self._waiting[stream] = _Open(begun, [begun.text])
            else:
                yield begun
        if log_text.whole and stream in self._waiting:
            yield self._waiting.pop(stream).complete()

    def _go_on(self, line: str, stream: str) -> Iterator[LogRecord]:
        """Adds a further line to the message that it belongs to."""
        # Further lines may lack the prefix by which the first one's stream was told: then the latest message is meant.
        key = stream if stream in self._waiting else next(reversed(self._waiting), None) if not stream else None
        if key is None:
            return
        message = self._waiting[key]
        found = _FURTHER_LINES[message.record.kind].search(line)
        if found:
            message.lines.append(line[found.start() :])
            message.foreign_lines = 0
            return
        message.foreign_lines += 1
        if message.foreign_lines >= _MAX_FOREIGN_LINES:
            yield self._waiting.pop(key).complete()


def _begin(log_text: LogText, line: str, name: str, *, first: bool) -> LogRecord | None:
    """The message that begins in this line, if one does."""
    kind, start = _find(line)
    if kind is None or (kind is Kind.OLD_PLACEMENT and line.startswith(_OF_STREAMS_PROTOCOL, start)):
        return None
    before = line[:start]
    thread, group = _named_thread(before)
    if kind is Kind.JOINING and group is None:
        return None  # a worker of Connect
    lead = _LEAD.get(kind)
    if lead and (found := lead.search(before)):
        start = found.start()
    layout = _LAYOUT_THREAD.search(log_text.thread or before)
    return LogRecord(
        kind=kind,
        file=name,
        line=log_text.line,
        column=None if log_text.column is None or not first else log_text.column + start,
        text=line[start:],
        thread=thread,
        layout_thread=layout[1] if layout else None,
        group=group,
        time=_time(log_text.time, find_time(before)),
        stream=log_text.stream,
    )


def _find(line: str) -> tuple[Kind | None, int]:
    best: tuple[Kind | None, int] = (None, len(line))
    for kind in Kind:
        start = line.find(kind.value, 0, best[1] + len(kind.value))
        if 0 <= start < best[1]:
            best = (kind, start)
    return best


def _named_thread(before: str) -> tuple[str | None, str | None]:
    if (start := before.rfind("stream-thread [")) >= 0 and (found := _STREAM_THREAD.match(before[start:])):
        return found[1], None
    if (start := before.rfind("[Consumer ")) >= 0 and (found := _CONSUMER.match(before[start:])):
        return found[1], found[2]
    return None, None


def _time(wrapped: LogTime | None, own: LogTime | None) -> LogTime | None:
    """The application's own time, unless only the wrapping's has a zone."""
    if own is None or (own.offset_ms is None and wrapped is not None and wrapped.offset_ms is not None):
        return wrapped
    return own
