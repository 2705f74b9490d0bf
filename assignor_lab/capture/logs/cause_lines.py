"""Lines that name the cause of a rebalance, as events: departures, ends of threads, failed assignments.

The lines are of ``ConsumerCoordinator``, ``StreamThread``, ``KafkaStreams``, ``StreamsPartitionAssignor``,
``InternalTopicManager`` and ``RepartitionTopics`` of Kafka 2.6 to 4.3, and of the group's coordinator. They are
collected in any order, and made to events at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo

import attrs

from assignor_lab.capture.logs.messages import MessageKind
from assignor_lab.capture.logs.records import LogMessage
from assignor_lab.documents.errors import Place
from assignor_lab.documents.wording import listed, plural
from assignor_lab.model.events import (
    DecisionFailed,
    GroupEvent,
    MemberExpired,
    MemberFenced,
    MemberLeft,
    PollTimedOut,
    RebalanceBegun,
    RejoinRequested,
    ShutdownRequested,
    ThreadDied,
    ThreadReplaced,
)
from assignor_lab.model.evidence import Evidence
from assignor_lab.model.moment import Moment

__all__ = ["CauseLines", "GroupCause"]

#: A group, or ``None`` if no line names it, and one of its events.
GroupCause = tuple[str | None, GroupEvent]

_THREAD = re.compile(r"(?<![^\s\[\]=,])([^\s\[\]=,]*?)-StreamThread-(\d{1,9})")
#: Behind these words the JVM writes the exception.
_JVM_DIED = re.compile(r'Exception in thread "([^"\n]*)-StreamThread-(\d{1,9})" ')
#: Client ids may hold blanks.
_WHOLE_THREAD = re.compile(r"\A(.*)-StreamThread-(\d{1,9})(?:-consumer)?\Z")
_STREAM_CLIENT = re.compile(r"\A(?>.*?stream-client \[)([^\n]*?)\]", re.DOTALL)
_LEAVING = re.compile(
    r"\A(?>.*?sending LeaveGroup request to coordinator )(?>[^\n]*? due to )([^\n]++)\s*+\Z", re.DOTALL
)
_CHANGED, _FROM = "cached metadata has changed", " from "
_COUNT = re.compile(r"\d{1,9}")
_REASON = re.compile(r"Request joining group due to: (.+)")
_FAILED = re.compile(r"\Arebalance failed due to (?:'?(.*?)'? \(([\w.$]+)\)|([\w.$]+))")
_DEAD = re.compile(r"State transition from (\w+) to DEAD")
_OPTED = re.compile(r"opted to (SHUTDOWN_\w+)|sent shutdown request for the entire (application)|(\Z)")
_EXCEPTION = re.compile(
    r"^(?:Caused by: )?(?:[a-z]\w*\.)+([A-Z][\w$]*(?:Exception|Error))(?:: (.*))?(?=\n|\Z)", re.MULTILINE
)
_INTERNAL_TOPIC = re.compile(r"internal topic (\S+) has invalid partitions: expected: (\d{1,9}); actual: (\d{1,9})")
_TOPICS = re.compile(
    r"ource topics(?: are missing/unknown:| detected:|[.:])? \[([^\[\]]*)\]|"
    r"(?<!\S)(\S++) is (?:unknown yet|missing/unknown) during"
)
_SOURCE_TOPICS = re.compile(r"\(1\) Source topics ([^\n\[\]]*)")
#: A member's statuses in the streams protocol: a code, and words.
_STATUS = re.compile(r"\(([123])\) (.*)")
_UNEQUAL = re.compile(r"ollowing topics do not have the same number of partitions: \[\{?([^\[\]{}]*)\}?\]")
_NOT_COPARTITIONED = re.compile(r"opics not co-partitioned: \[([^\[\]]*)\]")
_UNKNOWN_MEMBER = re.compile(r"failed because member \S+ is unknown")
_FENCED_EPOCH = re.compile(r"failed for member \S+ because epoch -?\d+ is fenced")
#: Of the layout, behind the message.
_LOGGER = re.compile(r"\A[a-z]\w*\.[\w.]+\)\Z")
_ERROR_CODE = re.compile(r"error code ([A-Z_]+)|assignment with error ([A-Z_]+)")
_MEMBER = re.compile(
    r"(?<![^\s\[\]=,])([^\s\[\]=,]*?)-StreamThread-(\d{1,9})-consumer-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_CLIENT_REASON = re.compile(r"\A(?>.*?client reason: )([^\n]++)\s*+\Z", re.DOTALL)
#: The coordinator's lines end with a full stop, and with its class in some layouts.
_WITHOUT_CLASS = re.compile(r"\A(.*?)\.?(?: \([\w.$]+\))?\Z")
_OF_GROUP = re.compile(r"\bgroup (\S+) (?:through|has failed)|\[Group(?:Id)? (\S+?)\]|in group (\S+)")
_OF_COORDINATOR = frozenset({MessageKind.LEFT_GROUP, MessageKind.LEFT_OLD, MessageKind.EXPIRED})
#: Part of the protocol: the member joins again at once.
_USUAL_FAILURES = frozenset(
    f"{name}Exception"
    for name in (
        "MemberIdRequired", "RebalanceInProgress", "UnknownMemberId", "IllegalGeneration", "CoordinatorNotAvailable",
        "NotCoordinator", "CoordinatorLoadInProgress", "Disconnect", "Timeout", "FencedInstanceId", "Wakeup",
    )
)  # fmt: skip
#: Reasons that the leader's decision shows itself, or another line of the same thread.
_USUAL_REASONS = (
    "group is already rebalancing", "need to re-join with the given member-id", "need to revoke partitions",
    "consumer pro-actively leaving",
    "Scheduled probing rebalance", "triggered followup rebalance", "the consumer unsubscribed",
)  # fmt: skip
_WITH_CAUSES = frozenset({MessageKind.EXCEPTION, MessageKind.UNCAUGHT, MessageKind.JVM_DIED})
_WAITING = "group is already rebalancing"
_POLL_TIMEOUT = "poll timeout"
#: Reasons of departures that other lines show.
_OTHERWISE_SHOWN = (_POLL_TIMEOUT, "being closed", "unsubscribed")
#: Lines of one cause are this close to one another.
_TOGETHER_MS, _STATUS_MS, _STOPPING_MS = 5_000, 60_000, 600_000
#: A rebalance that takes longer shows its begin.
_LONG_MS = 10_000
_TOPICS_MISSING = "INCOMPLETE_SOURCE_TOPIC_METADATA"
_MISSING_TOPICS = "MissingSourceTopicException"


@attrs.frozen
class _Line:
    kind: MessageKind
    time_ms: int
    place: Place
    text: str
    client: str
    thread: str | None
    group: str | None

    @property
    def evidence(self) -> Evidence:
        return Evidence.line(self.place)

    @property
    def at(self) -> Moment:
        return Moment.at(self.time_ms)


@attrs.define
class CauseLines:
    """The collected lines, and their events."""

    _records: list[LogMessage] = attrs.field(init=False, factory=list)
    #: Group of the records of each file.
    _groups: dict[str, set[str]] = attrs.field(init=False, factory=dict)
    _joined: list[tuple[LogMessage, int]] = attrs.field(init=False, factory=list)

    def take(self, record: LogMessage) -> None:
        self._records.append(record)

    def belongs(self, record: LogMessage) -> None:
        """Notes the group of a record, whatever its kind."""
        if record.group is not None:
            self._groups.setdefault(record.file, set()).add(record.group)

    @property
    def groups(self) -> set[str]:
        """Groups that lines of the logs name."""
        return set().union(*self._groups.values())

    def joined(self, record: LogMessage, generation: int | None) -> None:
        if generation is not None and record.time is not None:
            self._joined.append((record, generation))

    def events(
        self, zone: tzinfo, group_of: Mapping[str, str], stopping: Iterable[tuple[str, int]], decided: Iterable[int]
    ) -> list[GroupCause]:
        """By time, with client ids as the names of instances.

        Args:
            group_of: Client id to group, of further lines.
            stopping: Client ids of instances that stopped in order, with times.
            decided: Times of decisions.
        """
        lines = sorted(self._lines(zone, group_of), key=lambda each: each.time_ms)
        makers: Sequence[Callable[[], Iterator[tuple[_Line, GroupEvent]]]] = (
            lambda: _timeouts(lines),
            lambda: _threads(lines, list(stopping)),
            lambda: _shutdowns(lines),
            lambda: _rejoins(lines),
            lambda: _of_coordinator(lines),
            lambda: _waits(lines, sorted(decided)),
            lambda: self._failures(lines, zone),
        )
        found = [(line.group, event) for make in makers for line, event in make()]
        return sorted(_without_repetitions(found), key=lambda each: each[1].at.latest_ms)

    def _lines(self, zone: tzinfo, group_of: Mapping[str, str]) -> Iterator[_Line]:
        for each in self._records:
            if each.time is None:
                continue
            client, thread = _instance(each)
            group = each.group or group_of.get(client) or self._group_of_file(each.file)
            time_ms = each.time.epoch_ms(zone)
            text = each.text if each.kind in _OF_COORDINATOR else _without_logger(each.text)
            if (died := _JVM_DIED.search(text)) is not None:
                text = text[died.end() :]
            yield _Line(each.kind, time_ms, Place(each.file, each.line), text, client, thread, group)

    def _group_of_file(self, file: str) -> str | None:
        groups = list(self._groups.get(file, ()))
        return groups[0] if len(groups) == 1 else None

    # --- failed assignments -----------------------------------------------------------------------

    def _failures(self, lines: Iterable[_Line], zone: tzinfo) -> Iterator[tuple[_Line, GroupEvent]]:
        """Of lines close to one another, the one with the most exact cause counts, at the time of the first."""
        open_: dict[str | None, list[tuple[int, str, _Line]]] = {}
        found: list[tuple[int, str, _Line]]
        for line in lines:
            if (cause := _failure(line)) is None:
                continue
            found = open_.setdefault(line.group, [])
            # Each heartbeat repeats a status.
            together_ms = _STATUS_MS if line.kind is MessageKind.STATUSES else _TOGETHER_MS
            if found and line.time_ms - found[-1][2].time_ms > together_ms:
                yield self._failed(found, zone)
                found.clear()
            found.append((*cause, line))
        yield from (self._failed(each, zone) for each in open_.values() if each)

    def _failed(self, found: Sequence[tuple[int, str, _Line]], zone: tzinfo) -> tuple[_Line, GroupEvent]:
        rank, cause, line = min(found, key=lambda each: each[0])
        first = found[0][2]
        earlier = [
            (record.time.epoch_ms(zone), number)
            for record, number in self._joined
            if record.time is not None and record.group == first.group
        ]
        numbers = [number for time_ms, number in sorted(earlier) if time_ms <= first.time_ms]
        return first, DecisionFailed(first.at, line.evidence, cause, numbers[-1] if numbers and rank < 4 else None)


def _instance(record: LogMessage) -> tuple[str, str | None]:
    """Client id and number of the thread; empty if the line names neither."""
    if record.kind in _OF_COORDINATOR:
        found = _MEMBER.search(record.text)
        return ("", None) if found is None else (found[1], found[2])
    if record.kind is MessageKind.JVM_DIED:
        died = _JVM_DIED.search(record.text)
        return ("", None) if died is None else (died[1], died[2])
    threads = [_WHOLE_THREAD.match(text) for text in (record.thread, record.layout_thread) if text]
    if record.kind is MessageKind.UNCAUGHT:
        threads.insert(0, _THREAD.search(record.text))
    named = next((found for found in threads if found is not None and found[1]), None)
    if named is not None:
        return named[1], named[2]
    client = _STREAM_CLIENT.match(record.text)
    # Some layouts cut the start of a thread's name.
    thread = next((found[2] for found in threads if found is not None), None)
    return ("" if client is None else client[1]), thread


def _without_logger(text: str) -> str:
    before, _, last = text.rstrip().rpartition(" (")
    return before if before and _LOGGER.match(last) else text


def _without_repetitions(found: Iterable[GroupCause]) -> Iterator[GroupCause]:
    """One line can be in two files."""
    seen = set()
    for group, event in found:
        key = group, type(event), event.subject, getattr(event, "thread", None), event.at
        if key not in seen:
            seen.add(key)
            yield group, event


# --- instances and threads ------------------------------------------------------------------------------


def _timeouts(lines: Iterable[_Line]) -> Iterator[tuple[_Line, GroupEvent]]:
    latest: dict[tuple[str, str | None], int] = {}
    for line in lines:
        is_departure = line.kind in (MessageKind.LEFT_GROUP, MessageKind.LEAVING) and _POLL_TIMEOUT in line.text
        if line.kind is not MessageKind.POLL_TIMEOUT and not is_departure:
            continue
        key = line.client, line.thread
        if line.client and line.time_ms - latest.get(key, -_TOGETHER_MS - 1) > _TOGETHER_MS:
            yield line, PollTimedOut(line.at, line.evidence, line.client, line.thread)
        latest[key] = line.time_ms


def _threads(lines: Sequence[_Line], stopping: Sequence[tuple[str, int]]) -> Iterator[tuple[_Line, GroupEvent]]:
    """A thread that ends without its instance died. The time is that of its end, the cause that of its exception."""
    causes: dict[tuple[str, str | None], tuple[_Line, str]] = {}
    replaced: dict[str, _Line] = {}
    ended_ms: dict[tuple[str, str | None], int] = {}
    closing = {line.client for line in lines if line.kind is MessageKind.EXCEPTION and _has_scope(line)}
    unclean = {(line.client, line.thread) for line in lines if line.kind is MessageKind.UNCLEAN}
    # The JVM writes its line after the end of the thread.
    jvm: dict[tuple[str, str | None], list[tuple[_Line, str]]] = {}
    for line in lines:
        if line.kind is MessageKind.JVM_DIED:
            cause = _exception(line.text) or "an uncaught exception"
            jvm.setdefault((line.client, line.thread), []).append((line, cause))
    all_dead = {line.client for line in lines if line.kind is MessageKind.ALL_DEAD}
    for line in lines:
        key = line.client, line.thread
        if line.kind in _WITH_CAUSES:
            cause = _exception(line.text)
            is_repeated = line.time_ms - ended_ms.get(key, -_TOGETHER_MS - 1) <= _TOGETHER_MS
            if line.thread is not None and not is_repeated and (cause or key not in causes):
                causes[key] = line, cause or "an uncaught exception"
        elif line.kind is MessageKind.REPLACED:
            replaced[line.client] = line
            causes.setdefault(key, (line, _exception(line.text) or "an uncaught exception"))
        elif line.kind is MessageKind.THREAD_DEAD and line.thread is not None and _DEAD.search(line.text):
            is_stopped = any(
                client == line.client and 0 <= line.time_ms - time_ms < _STOPPING_MS for client, time_ms in stopping
            )
            found = causes.pop(key, None) or (causes.get((line.client, None)) if line.client in replaced else None)
            found = found or next((each for each in jvm.get(key, ()) if _follows(each[0], line)), None)
            if found is None and is_stopped:
                continue
            if found is not None:
                ended_ms[key] = line.time_ms
                died = ThreadReplaced if line.client in replaced else ThreadDied
                yield line, died(line.at, line.evidence, line.client, line.thread, found[1])
            elif line.client not in closing and (key in unclean or line.client in all_dead):
                # The exception is not in the log.
                yield line, ThreadDied(line.at, line.evidence, line.client, line.thread)
    for (client, thread), (line, cause) in causes.items():
        if line.kind is not MessageKind.REPLACED and not _has_scope(line):
            yield line, ThreadDied(line.at, line.evidence, client, thread, cause)
    yield from _fenced(lines)


def _follows(after: _Line, before: _Line) -> bool:
    return 0 <= after.time_ms - before.time_ms <= _TOGETHER_MS


def _fenced(lines: Iterable[_Line]) -> Iterator[tuple[_Line, GroupEvent]]:
    latest: dict[tuple[str, str | None], int] = {}
    for line in lines:
        reason = _fence(line)
        key = line.client, line.thread
        if reason and line.client and line.time_ms - latest.get(key, -_TOGETHER_MS - 1) > _TOGETHER_MS:
            yield line, MemberFenced(line.at, line.evidence, line.client, None, reason)
            latest[key] = line.time_ms


def _fence(line: _Line) -> str | None:
    if line.kind is MessageKind.FENCED:
        return "it missed a rebalance and dropped out of the group"
    if line.kind is MessageKind.FENCED_STATIC:
        return "another process has joined with its group.instance.id"
    if line.kind is MessageKind.FENCED_EPOCH and _UNKNOWN_MEMBER.search(line.text):
        return "its session had ended, and the coordinator no longer knew it"
    if line.kind is MessageKind.FENCED_EPOCH and _FENCED_EPOCH.search(line.text):
        return "the coordinator had given it up"
    return None


def _has_scope(line: _Line) -> bool:
    return any((found := _OPTED.search(line.text)) and found[number] for number in (1, 2))


def _exception(text: str) -> str:
    """The last cause: name and text."""
    found = [*_EXCEPTION.finditer(text)]
    if not found:
        return ""
    return found[-1][1] + (f": {found[-1][2].strip().removesuffix('.')}" if found[-1][2] else "")


def _shutdowns(lines: Iterable[_Line]) -> Iterator[tuple[_Line, GroupEvent]]:
    for line in lines:
        if line.kind is MessageKind.EXCEPTION and line.client and _has_scope(line):
            scope = "application" if "APPLICATION" in line.text or "entire application" in line.text else "instance"
            yield line, ShutdownRequested(line.at, line.evidence, line.client, scope, _exception(line.text))


def _rejoins(lines: Iterable[_Line]) -> Iterator[tuple[_Line, GroupEvent]]:
    for line in lines:
        if line.kind is MessageKind.LEAVING and (leaving := _LEAVING.match(line.text)) and line.client:
            if not any(words in leaving[1] for words in _OTHERWISE_SHOWN):
                yield line, MemberLeft(line.at, line.evidence, line.client, None, leaving[1].rstrip())
        elif line.kind is MessageKind.JOIN_REQUESTED and (found := _REASON.search(line.text)) and line.client:
            reason = found[1].strip()
            failed = _FAILED.match(reason)
            if failed is None and not reason.startswith(_USUAL_REASONS):
                yield line, RejoinRequested(line.at, line.evidence, line.client, line.thread, _shortened(reason))


def _shortened(reason: str) -> str:
    """The topics that changed, in place of the partitions and racks of all."""
    words, _, maps = reason.partition(_FROM)
    before, _, after = maps.partition(" at the beginning of the rebalance to ")
    if words != _CHANGED or not after:
        return reason
    old, new = _partition_counts(before), _partition_counts(after)
    changes = [
        f"{topic} has {plural(new.get(topic, 0), 'partition')} ({old.get(topic, 0)} before)"
        for topic in sorted(old.keys() | new.keys())
        if old.get(topic, 0) != new.get(topic, 0)
    ]
    return f"{_CHANGED}: {', '.join(changes)}" if changes else _CHANGED


def _partition_counts(snapshot: str) -> dict[str, int]:
    """Topic to its number of partitions, from ``(version4: {in=[racks=[a], racks=[b]]})`` or ``(version4: {in=2})``."""
    inner = snapshot[snapshot.find("{") + 1 : max(snapshot.rfind("}"), 0)]
    found = {}
    for entry in _apart(inner):
        topic, _, value = entry.partition("=")
        partitions = _apart(value[1:-1]) if value.startswith("[") else ()
        found[topic] = int(value) if _COUNT.fullmatch(value) else len(partitions)
    return found


def _apart(text: str) -> list[str]:
    """Parts between the commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "[") - (sign == "]")
        if sign == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [*parts, text[begin:].strip()] if text.strip() else []


def _of_coordinator(lines: Iterable[_Line]) -> Iterator[tuple[_Line, GroupEvent]]:
    for line in lines:
        if line.kind not in _OF_COORDINATOR or not line.client:
            continue
        of = _OF_GROUP.search(line.text)
        own = line if of is None else attrs.evolve(line, group=line.group or of[1] or of[2] or of[3])
        client_reason = _CLIENT_REASON.match(line.text)
        reason = None if client_reason is None else _WITHOUT_CLASS.match(client_reason[1].rstrip())
        if line.kind is MessageKind.EXPIRED:
            yield own, MemberExpired(line.at, line.evidence, line.client)
        elif reason is not None and not any(words in reason[1] for words in _OTHERWISE_SHOWN):
            yield own, MemberLeft(line.at, line.evidence, line.client, None, reason[1])


def _waits(lines: Iterable[_Line], decided: Sequence[int]) -> Iterator[tuple[_Line, GroupEvent]]:
    """The first line of members that wait, if the next decision is late."""
    waiting = [each for each in lines if each.kind is MessageKind.JOIN_REQUESTED and _WAITING in each.text]
    before = -1
    for time_ms in decided:
        first = next((each for each in waiting if before < each.time_ms <= time_ms), None)
        if first is not None and time_ms - first.time_ms >= _LONG_MS:
            yield first, RebalanceBegun(first.at, first.evidence, _WAITING)
        before = time_ms


# --- causes of failed assignments -------------------------------------------------------------------------


def _failure(line: _Line) -> tuple[int, str] | None:
    """Rank (the lowest is the most exact) and cause; ``None`` for another line."""
    if (topic := _INTERNAL_TOPIC.search(line.text)) is not None:
        has = plural(int(topic[3]), "partition")
        return 0, (
            f"internal topic {topic[1]} has {has}, {topic[2]} expected: an input topic was enlarged; use the reset "
            "tool, or recreate the topic"
        )
    if line.kind in (MessageKind.TOPICS_MISSING, MessageKind.TOPIC_UNKNOWN, MessageKind.TOPIC_MISSING):
        return _missing_topics(line.text)
    if (unequal := _UNEQUAL.search(line.text)) is not None:
        return 0, f"topics of one sub-topology have different numbers of partitions: {unequal[1]}"
    if line.kind is MessageKind.STATUSES:
        return _status(line.text)
    if line.kind is MessageKind.JOIN_REQUESTED and (apart := _NOT_COPARTITIONED.search(line.text)) is not None:
        names = listed([name.strip() for name in apart[1].split(",")])
        return 0, f"topics {names} are joined, and have different numbers of partitions"
    if line.kind is MessageKind.JOIN_REQUESTED and (reason := _REASON.search(line.text)) is not None:
        failed = _FAILED.match(reason[1].strip())
        name = "" if failed is None else (failed[2] or failed[3]).rpartition(".")[2]
        if failed is None or name in _USUAL_FAILURES:
            return None
        return 3, f"the leader's assignor failed: {failed[1]} ({name})" if failed[1] else f"the leader failed: {name}"
    if line.kind is MessageKind.ASSIGNMENT_FAILED:
        exception = _exception(line.text)
        if not exception or exception.startswith(_MISSING_TOPICS):
            return _missing_topics("") if exception else None
        return 2, f"the leader's assignor failed: {exception}"
    if line.kind in (MessageKind.ERROR_CODE, MessageKind.ASSIGNOR_ERROR):
        return _error(line)
    return None


def _missing_topics(text: str) -> tuple[int, str]:
    found = _TOPICS.search(text)
    listed_names = "" if found is None else found[1] or found[2] or ""
    if found is None and (status := _SOURCE_TOPICS.search(text)) is not None:
        listed_names = status[1].partition(" are missing")[0]
    names = [name for each in listed_names.split(",") if (name := each.strip())]
    if not names:
        return 2, "source topics are missing: create them before the application starts"
    if len(names) == 1:
        return 1, f"source topic {names[0]} is missing: create it"
    return 1, f"source topics {listed(names)} are missing: create them"


def _status(text: str) -> tuple[int, str] | None:
    """``None`` for a status of a group that works."""
    found = _STATUS.search(text)
    if found is None:
        return None
    return _missing_topics(text) if found[1] == "1" else (2, found[2].strip().removesuffix("."))


def _error(line: _Line) -> tuple[int, str] | None:
    """Every member logs a code; the leader's log has the cause."""
    code = _ERROR_CODE.search(line.text)
    if code is None or code[1] == "SHUTDOWN_REQUESTED":
        return None
    if line.kind is MessageKind.ASSIGNOR_ERROR:
        return 2, f"the task assignor's answer has the error {code[2]}"
    if code[1] == _TOPICS_MISSING:
        return 4, "source topics are missing, which the leader's log names: create them"
    return 5, f"the leader reports {code[1]}: its log has the cause"
