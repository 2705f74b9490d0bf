"""The lines of each Connect worker: parts of rotated logs joined, and merged logs separated.

A worker is known by its file or the prefix of a tool, and its client id. Several workers may share all of them
(``connect-1`` is the default client id): then the member ids of their requests separate them, and the jobs that each
receives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from assignment_api.connect import Jobs
from assignor_lab.capture.logs.connect.errors import MergedWorkersError
from assignor_lab.capture.logs.connect.lines import LogSource, WorkerLine, worker_lines
from assignor_lab.capture.logs.connect.messages import (
    AssignmentsSent,
    Completed,
    GroupSynced,
    LoggedJoin,
    ProcessStarted,
    RoundStarted,
    WorkerLeft,
)
from assignor_lab.capture.logs.open_dates import LogDates
from assignor_lab.kafka.wire import WireError
from assignor_lab.kafka.wire.connect import decode_connect_assignment, decode_connect_subscription

__all__ = ["WorkerLog", "worker_logs"]


@attrs.define
class WorkerLog:
    """The lines of one worker, by time.

    Args:
        file: Of the first line.
        is_separated: True if other workers' lines had the same file, prefix and client id.
        unclear: Lines of the merged log about a generation that belong to one of several workers.
    """

    file: str
    stream: str
    worker: str
    group: str
    lines: list[WorkerLine] = attrs.field(factory=list)
    is_separated: bool = False
    unclear: int = 0

    @property
    def members(self) -> list[str]:
        """Member ids, in the order of the lines."""
        return [member for line in self.lines if (member := _member_of(line))]

    @property
    def span_ms(self) -> tuple[int, int] | None:
        times = [time for line in self.lines if (time := line.time_ms) is not None]
        return (min(times), max(times)) if times else None

    def refuse_unclear(self) -> None:
        """Raises :class:`MergedWorkersError` if a line may belong to another worker."""
        if self.unclear:
            raise MergedWorkersError(self.file, self.worker)


def worker_logs(sources: Iterable[LogSource], dates: LogDates | None = None) -> list[WorkerLog]:
    """The workers in the order of the logs; parts of a rotated log may have any order.

    Raises:
        LogImportError: if a file cannot be read.
    """
    parts: list[WorkerLog] = []
    for source in sources:
        found: dict[tuple[str, str, str], WorkerLog] = {}
        for line in worker_lines(source, dates):
            key = (line.stream, line.worker, line.group)
            log = found.setdefault(key, WorkerLog(line.file, line.stream, line.worker, line.group))
            log.lines.append(line)
        parts += found.values()
    return [separated for log in _joined(parts) for separated in _separated(log)]


# --- parts of a rotated log -------------------------------------------------------------------------


def _joined(parts: list[WorkerLog]) -> list[WorkerLog]:
    whole: list[WorkerLog] = []
    for part in sorted(parts, key=_start):
        before = next((log for log in reversed(whole) if _continues(log, part)), None)
        if before is None:
            whole.append(part)
        else:
            before.lines += part.lines
    order = {id(part): number for number, part in enumerate(parts)}
    return sorted(whole, key=lambda log: order[id(log)])


def _start(log: WorkerLog) -> int:
    span = log.span_ms
    return 0 if span is None else span[0]


def _continues(before: WorkerLog, part: WorkerLog) -> bool:
    """True if two logs are parts of one: the times do not overlap, and a member id or the file's name is the same."""
    if (before.worker, before.group, before.stream) != (part.worker, part.group, part.stream):
        return False
    if before.lines[-1].file == part.lines[0].file:
        return False
    first, second = before.span_ms, part.span_ms
    if first is None or second is None or second[0] < first[1]:
        return False
    members, more = before.members, part.members
    if members and more and members[-1] == more[0]:
        return True
    if before.stream:
        return True
    return _family(before.lines[-1].file) == _family(part.lines[0].file)


def _family(file: str) -> str:
    """The name of a rotated log without numbers, dates and endings."""
    folder, _, name = file.rpartition("/")
    return f"{folder}/{name.split('.')[0].rstrip('-_0123456789')}" if _is_part(name) else file


def _is_part(name: str) -> bool:
    pieces = name.removesuffix(".gz").split(".")
    return len(pieces) > 1


# --- merged logs ------------------------------------------------------------------------------------


def _separated(log: WorkerLog) -> Iterator[WorkerLog]:
    if not _has_several(log.lines):
        yield log
        return
    merged = _Merged(log)
    for line in log.lines:
        merged.take(line)
    yield from merged.logs()


def _has_several(lines: Iterable[WorkerLine]) -> bool:
    """True if a member returns after another one, or a generation completes twice."""
    seen: set[str] = set()
    last = ""
    completed: set[int] = set()
    for line in lines:
        member = _member_of(line)
        if member and member != last:
            if member in seen:
                return True
            seen.add(member)
            last = member
        if isinstance(line.message, ProcessStarted):
            # A log may hold one run after another, even the same one twice.
            completed.clear()
            seen.clear()
        elif isinstance(line.message, Completed):
            if line.message.generation in completed:
                return True
            completed.add(line.message.generation)
    return False


def _member_of(line: WorkerLine) -> str:
    message = line.message
    if isinstance(message, LoggedJoin | AssignmentsSent | GroupSynced | RoundStarted | WorkerLeft):
        return message.member
    return ""


@attrs.define
class _Merged:
    log: WorkerLog
    by_member: dict[str, WorkerLog] = attrs.field(factory=dict)
    starts: list[WorkerLine] = attrs.field(factory=list)
    leading: str = ""
    #: Generation to the members without a line of their jobs, and these jobs if the leader's decision is known.
    expected: dict[int, dict[str, Jobs | None]] = attrs.field(factory=dict)
    joins: dict[int, LoggedJoin] = attrs.field(factory=dict)
    unclear: int = 0
    #: Member of the line before, if that was its own request for this generation.
    synced: str = ""

    def logs(self) -> Iterator[WorkerLog]:
        for each in self.by_member.values():
            each.unclear = self.unclear
            yield each
        if not self.by_member:
            self.log.unclear = max(1, self.unclear)
            yield self.log

    def take(self, line: WorkerLine) -> None:
        message = line.message
        if isinstance(message, ProcessStarted):
            if message.is_herder:
                self.starts.append(line)
            return
        member = _member_of(line)
        if isinstance(message, LoggedJoin) and message.leader == message.member:
            self.leading = message.member
            self.joins[message.generation] = message
        elif isinstance(message, GroupSynced):
            self.expected.setdefault(message.generation, {}).setdefault(message.member, None)
        elif isinstance(message, AssignmentsSent):
            self._note_decision(message)
        elif isinstance(message, Completed):
            member = self._receiver(message)
            if not member:
                self.unclear += 1
                return
        elif not member:
            member = self.leading
        self.synced = member if isinstance(message, GroupSynced) else ""
        if member:
            self._of(member).lines.append(line)

    def _of(self, member: str) -> WorkerLog:
        log = self.by_member.get(member)
        if log is None:
            log = WorkerLog(self.log.file, self.log.stream, self.log.worker, self.log.group, is_separated=True)
            self.by_member[member] = log
            if self.starts:
                log.lines.append(self.starts.pop(0))
        return log

    def _note_decision(self, message: AssignmentsSent) -> None:
        join = self.joins.get(message.generation)
        if join is None:
            return
        try:
            owned = {member: decode_connect_subscription(data).owned for member, data in join.subscriptions}
            sent = {member: decode_connect_assignment(data) for member, data in message.assignments}
        except WireError:
            return
        self.expected[message.generation] = {
            member: owned.get(member, Jobs()).minus(each.revoked).plus(each.assigned).sorted()
            for member, each in sent.items()
        }

    def _receiver(self, message: Completed) -> str:
        """The only member that can have these jobs, or empty. Members with equal jobs are alike."""
        waiting = self.expected.get(message.generation, {})
        jobs = message.owned.sorted()
        alike = [member for member, expected in waiting.items() if expected == jobs]
        unknown = [member for member, expected in waiting.items() if expected is None]
        if alike:
            found = alike[0]
        elif self.synced in unknown:
            # A worker logs both lines at once.
            found = self.synced
        elif len(unknown) == 1:
            found = unknown[0]
        else:
            return ""
        del waiting[found]
        return found
