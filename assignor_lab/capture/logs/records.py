"""Splits a log into the messages that concern assignment.

Kafka's own words identify the first line. Further lines are collected even between lines of other containers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from assignor_lab.capture.logs.log_lines import LogText
from assignor_lab.capture.logs.log_texts import LogTexts
from assignor_lab.capture.logs.messages import CAUSES, OF_EPOCHS, MessageKind
from assignor_lab.capture.logs.timestamps import LogTime

__all__ = ["LogMessage", "RecordReader"]


_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
#: By a text anywhere in the line.
_FURTHER_LINES = {
    # Keys are sorted, so these are close to one another.
    MessageKind.STREAMS_CONFIG: re.compile(
        r"(?<![\w.])(?:acceptable\.recovery\.lag|application\.id|client\.id|max\.warmup\.replicas|num\.standby\.replicas|"
        r"probing\.rebalance\.interval\.ms|rack\.aware\.assignment\.[a-z_]+|topology\.optimization|"
        r"commit\.interval\.ms|dsl\.store\.suppliers\.class|processing\.guarantee|state\.cleanup\.delay\.ms) = "
    ),
    MessageKind.CONSUMER_CONFIG: re.compile(
        r"(?<![\w.])(?:client\.id|client\.rack|group\.id|group\.instance\.id|heartbeat\.interval\.ms|"
        r"max\.poll\.interval\.ms|session\.timeout\.ms) = "
    ),
    MessageKind.TOPOLOGY: re.compile(r"(?<![\w-])(?:(?:Topology|Sub-topology|Source|Processor|Sink): |<-- )"),
    MessageKind.PARTICIPANTS: re.compile(rf"{_UUID}: \["),
    MessageKind.TASKS: re.compile(r"and stateless tasks: "),
    MessageKind.PLACEMENT: re.compile(rf"{_UUID}=\[activeTasks: \("),
    MessageKind.OLD_PLACEMENT: re.compile(rf"{_UUID}=\[activeTasks: \("),
    MessageKind.CONSUMERS: re.compile(
        r"(?:prev owned active|prev owned standby|assigned active|revoking active|"
        r"assigned standby) \{"
    ),
}
#: Text behind the words that identify a message; it may be cut off. Other messages share the words.
_BEHIND = {
    MessageKind.OLD_PLACEMENT: re.compile(
        r"\[[^\]]*(?:\Z|\] (?:including stateful \[|to (?:\d+ )?clients as))|to clients as\b|\Z"
    ),
    MessageKind.CLIENT_STATES: re.compile(
        r"and -?\d{1,10} standby replicas|\[[^\]]*(?:\Z|\] (?:including stateful \[|to clients ))|to clients \{|\Z"
    ),
    MessageKind.FOLLOWUP_OF_CLIENT: re.compile(rf"{_UUID}|\Z"),
    **dict.fromkeys(
        (MessageKind.CLIENT_METADATA, MessageKind.BEFORE_OPTIMIZATION, MessageKind.DECIDED), re.compile(r"\{|\Z")
    ),
    MessageKind.TASKS: re.compile(r"\[|\Z"),
    MessageKind.TOPICS_MISSING: re.compile(r"(?: are missing/unknown:| detected:|[.:])? \[| were missing"),
    MessageKind.EXCEPTION: re.compile(r"exception during processing|unexpected Kafka exception"),
}
_RESTORING = frozenset({MessageKind.END_OFFSET, MessageKind.RESTORED, MessageKind.RESTORED_TASK})
#: An exception, or a cause of it, stands in a line of its own.
_EXCEPTION = re.compile(r"(?:Caused by: )?(?<![\w.])(?:[a-z]\w*\.)+[A-Z][\w$]*(?:Exception|Error)(?=:|\s*\Z)")
_WITH_EXCEPTION = frozenset(
    {
        MessageKind.EXCEPTION,
        MessageKind.UNCAUGHT,
        MessageKind.JVM_DIED,
        MessageKind.REPLACED,
        MessageKind.ASSIGNMENT_FAILED,
    }
)
_FURTHER_LINES |= dict.fromkeys(_WITH_EXCEPTION, _EXCEPTION)
_BESIDE = (
    frozenset(
        {
            MessageKind.PREPARING,
            MessageKind.STABILIZED,
            MessageKind.RECEIVED,
            MessageKind.CLIENT,
            MessageKind.JOINING,
            MessageKind.REVOKED,
            MessageKind.NOTIFIED,
            MessageKind.CORRUPTED,
        }
    )
    | {MessageKind.CONNECT_WORKER, MessageKind.STATIC_MEMBER}
    | OF_EPOCHS
    | _RESTORING
    | (CAUSES - _WITH_EXCEPTION)
)
#: Words before the marker that belong to the message.
_LEAD = {
    MessageKind.PARTICIPANTS: re.compile(
        r"(?:(?<!\d)\d+ client nodes and \d+ consumers |(?<!\d)\d+ members |All members )\Z"
    ),
    MessageKind.CONSUMERS: re.compile(rf"Client {_UUID}\Z"),
    MessageKind.ASSIGNOR: re.compile(r"Instantiated \S+\Z"),
    MessageKind.FINISHED: re.compile(r"Finished (?:un)?\Z"),
    MessageKind.END_OFFSETS_FAILED: re.compile(r"Failed to (?:fetch|retrieve all)\Z"),
    MessageKind.PROBING: re.compile(r"Requesting followup rebalance (?s:.*)\Z"),
    **dict.fromkeys(_RESTORING, re.compile(r"(?:state-updater|stream-thread) \[[^\[\]]*\] \Z")),
    **dict.fromkeys(OF_EPOCHS, re.compile(r"\[GroupId (?s:.*)\Z")),
}
_STREAM_THREAD = re.compile(r"\Astream-thread \[(.*?)\] ")
_CONSUMER = re.compile(r"\A\[Consumer (?>(?:instanceId=(.*?), )?clientId=)(?>(.*?), groupId=)(.*?)\] ")
_LAYOUT_THREAD = re.compile(r"(?<![^\s\[\]()|,])([^\s\[\]()|,]*-StreamThread-\d+)")
#: Messages of a static member have the words of other kinds.
_KINDS = tuple(
    (kind, kind.value) for kind in MessageKind if kind is not MessageKind.STATIC_MEMBER and kind not in CAUSES
)
_CAUSES = tuple((kind, kind.value) for kind in MessageKind if kind in CAUSES)
#: Lines of an instance can have a cause behind these words.
_BEFORE_CAUSES = (None, MessageKind.CLIENT)
_MAX_FOREIGN_LINES = 100


@attrs.frozen
class LogMessage:
    """One message of Kafka.

    Args:
        column: Characters before ``text``, or ``None`` if unknown.
        thread: Client id of the consumer (``...-StreamThread-1-consumer``), if in the message.
        layout_thread: Thread's name if only the layout has it; some layouts cut its start.
        stream: One of several sources in a file.
    """

    kind: MessageKind
    file: str
    line: int
    column: int | None
    text: str
    thread: str | None = None
    layout_thread: str | None = None
    group: str | None = None
    instance: str | None = None
    time: LogTime | None = None
    stream: str = ""


@attrs.define
class _Open:
    record: LogMessage
    lines: list[str]
    foreign_lines: int = 0

    def complete(self) -> LogMessage:
        return attrs.evolve(self.record, text="\n".join(self.lines))


@attrs.define
class RecordReader:
    """A message may span two logs, as in parts of a rotated log."""

    _waiting: dict[str, _Open] = attrs.field(init=False, factory=dict)

    def read(self, source: LogTexts) -> Iterator[LogMessage]:
        source.follow = bool(self._waiting)
        for log_text in source:
            yield from self._records_of(log_text, source)
            source.follow = bool(self._waiting)

    def finish(self) -> Iterator[LogMessage]:
        waiting, self._waiting = self._waiting, {}
        for message in waiting.values():
            yield message.complete()

    def _records_of(self, log_text: LogText, source: LogTexts) -> Iterator[LogMessage]:
        stream = log_text.stream
        for number, line in enumerate(log_text.text.split("\n")):
            if self._awaits_exception(stream) and _EXCEPTION.match(line.lstrip()):
                yield from self._go_on(line, stream)
                continue
            begun = _begin(log_text, line, source, first=number == 0)
            if begun is None:
                yield from self._go_on(line, stream)
                continue
            if begun.kind in _BESIDE:
                # A line of another thread or program ends no message.
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

    def _awaits_exception(self, stream: str) -> bool:
        return stream in self._waiting and self._waiting[stream].record.kind in _WITH_EXCEPTION

    def _go_on(self, line: str, stream: str) -> Iterator[LogMessage]:
        # Lines without their stream's prefix belong to the latest message.
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


def _begin(log_text: LogText, line: str, source: LogTexts, *, first: bool) -> LogMessage | None:
    kind, start = _find(line)
    if kind is None:
        return None
    before = line[:start]
    thread, group, instance = _named_thread(line if kind is MessageKind.STATIC_MEMBER else before)
    if kind is MessageKind.JOINING and group is None:
        return None  # a worker of Connect
    lead = _LEAD.get(kind)
    if lead and (found := lead.search(before)):
        start = found.start()
    layout = _LAYOUT_THREAD.search(log_text.thread or before)
    return LogMessage(
        kind=kind,
        file=source.name,
        line=log_text.line,
        column=None if log_text.column is None or not first else log_text.column + start,
        text=line if kind in CAUSES else line[start:],
        thread=thread,
        layout_thread=layout[1] if layout else None,
        group=group,
        instance=instance,
        time=_time(log_text.time, source.clock.find(before, log_text.stream)),
        stream=log_text.stream,
    )


def _find(line: str) -> tuple[MessageKind | None, int]:
    best, end = _first_of(line, _KINDS)
    if best in _BEFORE_CAUSES and (cause := _first_of(line, _CAUSES))[0] is not None:
        return cause
    if best is None and (start := line.find(MessageKind.STATIC_MEMBER.value)) >= 0:
        return MessageKind.STATIC_MEMBER, start
    return best, end


def _first_of(line: str, kinds: tuple[tuple[MessageKind, str], ...]) -> tuple[MessageKind | None, int]:
    best, end = None, len(line)
    for kind, text in kinds:
        start = line.find(text, 0, end + len(text))
        if 0 <= start < end and (kind not in _BEHIND or _BEHIND[kind].match(line, start + len(text))):
            best, end = kind, start
    return best, end


def _named_thread(before: str) -> tuple[str | None, str | None, str | None]:
    if (start := before.rfind("stream-thread [")) >= 0 and (found := _STREAM_THREAD.match(before[start:])):
        return found[1], None, None
    if (start := before.rfind("[Consumer ")) >= 0 and (found := _CONSUMER.match(before[start:])):
        return found[2], found[3], found[1]
    return None, None, None


def _time(wrapped: LogTime | None, own: LogTime | None) -> LogTime | None:
    """The application's own time, unless only the wrapping's has a zone."""
    if own is None or (own.offset_ms is None and wrapped is not None and wrapped.offset_ms is not None):
        return wrapped
    return own
