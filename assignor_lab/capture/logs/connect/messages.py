"""Messages of a Connect worker's log about its group's decisions.

At DEBUG for ``org.apache.kafka.connect.runtime.distributed``, a leader logs all inputs of a decision: subscriptions and
assignments as bytes, the jobs, and its clock where it matters. At DEBUG for the assignor alone, members and assignments
are text. At INFO, each worker logs the jobs that it has after each generation.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import attrs

from assignment_api.connect import ConfiguredJobs, ConnectorTaskId, ConnectorTaskIdFormatError, Jobs
from assignor_lab.capture.logs.connect.errors import GarbledMessageError
from assignor_lab.kafka.wire.connect import AssignmentMessage, SubscriptionMessage

__all__ = [
    "AssignmentsSent",
    "ClockRead",
    "Completed",
    "ConfiguredRead",
    "DelayStarted",
    "GroupSynced",
    "LoggedJoin",
    "MembersRead",
    "Message",
    "MismatchReported",
    "NewAssignments",
    "ProcessStarted",
    "RoundStarted",
    "StateSet",
    "WorkerLeft",
    "read_message",
]


@attrs.frozen
class ProcessStarted:
    """A worker's process starts with empty assignors' memory.

    Args:
        is_herder: True for the line at INFO, of which each start has one.
    """

    is_herder: bool


@attrs.frozen
class LoggedJoin:
    """A worker learns its generation; the leader also learns all subscriptions.

    Args:
        subscriptions: In the order of the coordinator; empty unless the worker leads.
    """

    generation: int
    protocol: str
    leader: str
    member: str
    subscriptions: tuple[tuple[str, bytes], ...]


@attrs.frozen
class RoundStarted:
    """The incremental assignor starts; the leader's snapshot is at least as new as every member's.

    Args:
        member: The leader; empty in some releases.
    """

    generation: int
    member: str


@attrs.frozen
class MembersRead:
    """The assignor's own text of all members' reports."""

    subscriptions: tuple[tuple[str, SubscriptionMessage], ...]


@attrs.frozen
class NewAssignments:
    """The assignor's own text of its decision.

    Args:
        owned: All jobs of each member afterwards; empty if the release logs differences.
        sent: The differences, as they are sent; empty if the release logs all jobs.
    """

    owned: tuple[tuple[str, Jobs], ...]
    sent: tuple[tuple[str, AssignmentMessage], ...]


@attrs.frozen
class MismatchReported:
    """The leader has not read the configuration that a member reports, and assigns nothing."""


@attrs.frozen
class GroupSynced:
    """A worker joined or synced a generation; the line at INFO has its member id."""

    generation: int
    member: str


@attrs.frozen
class WorkerLeft:
    """A worker leaves its group by a request.

    Args:
        member: Empty if the line has none.
    """

    member: str
    reason: str


@attrs.frozen
class StateSet:
    """A connector on this worker is paused, stopped or resumed."""

    connector: str
    state: str


@attrs.frozen
class ConfiguredRead:
    """The leader's snapshot of the configuration."""

    jobs: ConfiguredJobs


@attrs.frozen
class ClockRead:
    """The leader is about to read its clock; the line's own time is the best estimate.

    Args:
        lost: Jobs that no worker reports any more.
    """

    lost: Jobs


@attrs.frozen
class DelayStarted:
    """The delay for lost jobs begins."""

    max_delay_ms: int
    epoch_ms: int


@attrs.frozen
class AssignmentsSent:
    """The leader sends its decision.

    Args:
        member: The leader; empty if the line has none.
    """

    generation: int
    member: str
    assignments: tuple[tuple[str, bytes], ...]


@attrs.frozen
class Completed:
    """A worker has received its assignment.

    Args:
        version: Of Connect's protocol; 0: eager.
        message: The assignment, with all jobs of the worker afterwards in place of the new ones.
    """

    generation: int
    version: int
    message: AssignmentMessage

    @property
    def owned(self) -> Jobs:
        return self.message.assigned


Message = (
    ProcessStarted
    | LoggedJoin
    | RoundStarted
    | MembersRead
    | NewAssignments
    | MismatchReported
    | GroupSynced
    | WorkerLeft
    | StateSet
    | ConfiguredRead
    | ClockRead
    | DelayStarted
    | AssignmentsSent
    | Completed
)

_NUMBER = r"(\d{1,10})"
_BYTES = r"\[([-0-9, ]*)\]"
_MEMBER_ID = r"memberId='([^']*)'"
# Atomic groups: one pass over a hostile line of any length.
_JOINED = re.compile(
    # Brokers before 2.5 send no protocol type.
    rf"\A(?>.*?, errorCode=0, generationId={_NUMBER}, (?:protocolType=(?:null|'connect'), )?protocolName='([^']*)', )"
    rf"leader='([^']*)', (?>.*?{_MEMBER_ID})"
)
_SUBSCRIPTION = re.compile(
    rf"JoinGroupResponseMember\({_MEMBER_ID}, groupInstanceId=(?:null|'[^']*'), metadata={_BYTES}\)"
)
_SYNC = re.compile(rf"\A(?>.*?SyncGroupRequestData\()(?>.*?generationId={_NUMBER}, )(?:{_MEMBER_ID})?")
_ASSIGNMENT = re.compile(rf"SyncGroupRequestAssignment\({_MEMBER_ID}, assignment={_BYTES}\)")
_JOBS = r"\{ ?connectorIds=\[(?>(.*?)\], taskIds=\[)(?>(.*?)\]\})"
_CONFIGURED = re.compile(rf"\A{_JOBS}")
_STARTED = re.compile(rf"\A{_NUMBER}(?: with memberId: (\S*))?")
_DELAY = re.compile(r"to the max: (\d{1,10})\. scheduledRebalance: -?\d{1,19} now: (\d{1,18}) ")
_ASSIGNMENT_TEXT = (
    r"\AAssignment\{error=(-?\d{1,5}), leader='([^']*)', leaderUrl='([^']*)', offset=(-?\d{1,19}), "
    r"connectorIds=\[(?>(.*?)\], taskIds=\[)(?>(.*?)\](?=, revokedConnectorIds=|\}))"
)
_REVOKED = re.compile(r"\A, revokedConnectorIds=\[(?>(.*?)\], revokedTaskIds=\[)(?>(.*?)\], delay=)(\d{1,10})\}")
_COMPLETED = re.compile(rf"\A{_NUMBER}(?: with protocol version (\d{{1,5}}))? and got assignment: ")
#: Of an assignment that is text, not bytes.
_TEXT_VERSION = 2
_MEMBER_STATE = re.compile(
    r"(?:\{|, )([^\s{}=]+)=WorkerState\{url='([^']*)', offset=(-?\d{1,19}), (?=(Assignment\{error=)?)"
)
_MEMBER_SENT = re.compile(r"(?:\{|, )([^\s{}=]+)=(?=Assignment\{error=)")
#: Names of jobs have no brackets here, so that a hostile line costs one pass.
_MEMBER_JOBS = re.compile(r"(?:\{|, )([^\s{}=]+)=\{ ?connectorIds=\[([^\[\]{}]*)\], taskIds=\[([^\[\]{}]*)\]\}")
_ASSIGNMENT_START = re.compile(_ASSIGNMENT_TEXT)
_SYNCED = re.compile(rf"\A(?>.*?Generation\{{generationId={_NUMBER}, )memberId='([^']*)'")
_LEFT = re.compile(r"\A(?:(?>.*?due to )(?:the )?(.*?))?(?: \([\w.$:]+\))?\Z")
_LEAVING_MEMBER = re.compile(r"Member (\S+) \Z")
_STATE_SET = re.compile(r"\A(.+?) state to ([A-Z]+)(?=\s|\Z)")


def read_message(text: str) -> Message | None:
    for marker, read in _READERS:
        start = text.find(marker)
        if start >= 0:
            return read(text, start)
    return None


def _matched(pattern: re.Pattern[str], text: str, start: int, marker: str) -> re.Match[str]:
    found = pattern.match(text[start + len(marker) :])
    if found is None:
        raise GarbledMessageError(f'"{marker.strip()}" is not followed by the text that Kafka writes there')
    return found


def _joined(text: str, start: int) -> LoggedJoin:
    found = _matched(_JOINED, text, start, _JOIN_MARKER)
    subscriptions = tuple((member, _bytes(data)) for member, data in _SUBSCRIPTION.findall(text, start))
    return LoggedJoin(int(found[1]), found[2], found[3], found[4], subscriptions)


def _sent(text: str, start: int) -> AssignmentsSent:
    found = _matched(_SYNC, text, start, _SYNC_MARKER)
    assignments = tuple((member, _bytes(data)) for member, data in _ASSIGNMENT.findall(text, start))
    return AssignmentsSent(int(found[1]), found[2] or "", assignments)


def _started(text: str, start: int) -> RoundStarted:
    found = _matched(_STARTED, text, start, _STARTED_MARKER)
    member = found[2] or ""
    return RoundStarted(int(found[1]), "" if member.startswith("(") else member)


def _configured(text: str, start: int) -> ConfiguredRead:
    found = _matched(_CONFIGURED, text, start, _CONFIGURED_MARKER)
    counts = dict.fromkeys(_listed(found[1]), 0)
    for task in _tasks(found[2]):
        counts[task.connector] = counts.get(task.connector, 0) + 1
    return ConfiguredRead(ConfiguredJobs(counts))


def _lost(text: str, start: int) -> ClockRead:
    found = _matched(_CONFIGURED, text, start, _LOST_MARKER)
    return ClockRead(Jobs(_listed(found[1]), _tasks(found[2])))


def _delay(text: str, start: int) -> DelayStarted:
    found = _matched(_DELAY, text, start, _DELAY_MARKER)
    return DelayStarted(int(found[1]), int(found[2]))


def _members(text: str, start: int) -> MembersRead:
    subscriptions = []
    for found in _MEMBER_STATE.finditer(text, start):
        owned = _assignment(text, found.end()) if found[4] else None
        subscriptions.append((found[1], SubscriptionMessage(_TEXT_VERSION, found[2], int(found[3]), owned)))
    if not subscriptions:
        raise GarbledMessageError(f'"{_MEMBERS_MARKER.strip()}" names no member')
    return MembersRead(tuple(subscriptions))


def _new_assignments(text: str, start: int) -> NewAssignments | None:
    jobs = [(found[1], Jobs(_listed(found[2]), _tasks(found[3]))) for found in _MEMBER_JOBS.finditer(text, start)]
    sent = [(found[1], _assignment(text, found.end())) for found in _MEMBER_SENT.finditer(text, start)]
    return NewAssignments(tuple(jobs), tuple(sent)) if jobs or sent else None


def _assignment(text: str, start: int) -> AssignmentMessage:
    found = _ASSIGNMENT_START.match(text[start:])
    if found is None:
        raise GarbledMessageError("an assignment is not in the text that Kafka writes there")
    revoked = _REVOKED.match(text[start + found.end() :])
    return AssignmentMessage(
        _TEXT_VERSION,
        int(found[1]),
        found[2],
        found[3],
        int(found[4]),
        tuple(_listed(found[5])),
        tuple(_tasks(found[6])),
        () if revoked is None else tuple(_listed(revoked[1])),
        () if revoked is None else tuple(_tasks(revoked[2])),
        0 if revoked is None else int(revoked[3]),
    )


def _synced(text: str, start: int) -> GroupSynced | None:
    """``None`` for releases before 2.7, which log no member id there."""
    found = _SYNCED.match(text[start:])
    return None if found is None else GroupSynced(int(found[1]), found[2])


def _left(text: str, start: int) -> WorkerLeft:
    found = _LEFT.match(text[start + len(_LEAVE_MARKER) :].strip())
    member = _LEAVING_MEMBER.search(text, 0, start)
    return WorkerLeft("" if member is None else member[1], "" if found is None else (found[1] or "").rstrip())


def _state_set(text: str, start: int) -> StateSet | None:
    found = _STATE_SET.match(text[start + len(_STATE_MARKER) :])
    return None if found is None else StateSet(found[1], found[2])


def _completed(text: str, start: int) -> Completed:
    found = _matched(_COMPLETED, text, start, _COMPLETED_MARKER)
    begin = start + len(_COMPLETED_MARKER) + found.end()
    got = _assignment(text, begin)
    # Kafka 2.3 logs no version, and eager assignments have no revoked jobs.
    is_incremental = text.find("}", begin) > text.find("revokedConnectorIds=", begin) >= 0
    return Completed(int(found[1]), int(found[2] or is_incremental), got)


def _listed(text: str) -> list[str]:
    return text.split(", ") if text else []


def _tasks(text: str) -> list[ConnectorTaskId]:
    try:
        return [ConnectorTaskId.parse(task) for task in _listed(text)]
    except ConnectorTaskIdFormatError as error:
        raise GarbledMessageError(str(error)) from error


def _bytes(text: str) -> bytes:
    try:
        return bytes(int(number) & 0xFF for number in text.split(",")) if text.strip() else b""
    except ValueError as error:
        raise GarbledMessageError("a list of bytes holds a value that is no byte") from error


_JOIN_MARKER = "Received successful JoinGroup response: "
_SYNC_MARKER = "Sending leader SyncGroup to coordinator "
_STARTED_MARKER = "Performing task assignment during generation: "
_CONFIGURED_MARKER = "Configured assignments: "
_LOST_MARKER = "Lost assignments: "
_DELAY_MARKER = "Resetting rebalance delay "
_COMPLETED_MARKER = "Joined group at generation "
_MEMBERS_MARKER = "Member configs: "
_LEAVE_MARKER = "sending LeaveGroup request to coordinator "
_STATE_MARKER = "Setting connector "

_READERS: tuple[tuple[str, Callable[[str, int], Message | None]], ...] = (
    (_JOIN_MARKER, _joined),
    (_SYNC_MARKER, _sent),
    (_STARTED_MARKER, _started),
    (_CONFIGURED_MARKER, _configured),
    (_LOST_MARKER, _lost),
    (_DELAY_MARKER, _delay),
    (_COMPLETED_MARKER, _completed),
    (_MEMBERS_MARKER, _members),
    ("Actual assignments: ", _new_assignments),
    ("Successfully joined group with generation ", _synced),
    ("Successfully synced group in generation ", _synced),
    (_LEAVE_MARKER, _left),
    (_STATE_MARKER, _state_set),
    ("do not have latest config found in sync request", lambda _text, _start: MismatchReported()),
    ("Connect group member created", lambda _text, _start: ProcessStarted(is_herder=False)),
    ("Herder starting", lambda _text, _start: ProcessStarted(is_herder=True)),
)
