"""Messages of a Connect worker's log about its group's decisions.

At DEBUG for ``org.apache.kafka.connect.runtime.distributed``, a leader logs all inputs of a decision: subscriptions and
assignments as bytes, the jobs, and its clock where it matters.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import attrs

from assignment_api.connect import ConfiguredJobs, ConnectorTaskId, ConnectorTaskIdFormatError, Jobs
from assignor_lab.capture.logs.connect.errors import GarbledMessageError

__all__ = [
    "AssignmentsSent",
    "ClockRead",
    "Completed",
    "ConfiguredRead",
    "DelayStarted",
    "LoggedJoin",
    "Message",
    "ProcessStarted",
    "RoundStarted",
    "read_message",
]


@attrs.frozen
class ProcessStarted:
    """A worker's process starts with empty assignors' memory."""


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
    """The incremental assignor starts; the leader's snapshot is at least as new as every member's."""


@attrs.frozen
class ConfiguredRead:
    """The leader's snapshot of the configuration."""

    jobs: ConfiguredJobs


@attrs.frozen
class ClockRead:
    """The leader is about to read its clock.

    Args:
        epoch_ms: The logged clock; otherwise the line's own time is the best estimate.
    """

    epoch_ms: int | None = None


@attrs.frozen
class DelayStarted:
    """The delay for lost jobs begins."""

    max_delay_ms: int
    epoch_ms: int


@attrs.frozen
class AssignmentsSent:
    """The leader sends its decision."""

    generation: int
    assignments: tuple[tuple[str, bytes], ...]


@attrs.frozen
class Completed:
    """A worker has received its assignment."""

    generation: int
    owned: Jobs


Message = (
    ProcessStarted | LoggedJoin | RoundStarted | ConfiguredRead | ClockRead | DelayStarted | AssignmentsSent | Completed
)

_NUMBER = r"(\d{1,10})"
_BYTES = r"\[([-0-9, ]*)\]"
_MEMBER_ID = r"memberId='([^']*)'"
# Atomic groups: one pass over a hostile line of any length.
_JOINED = re.compile(
    rf"\A(?>.*?, errorCode=0, generationId={_NUMBER}, protocolType='connect', protocolName='([^']*)', )"
    rf"leader='([^']*)', (?>.*?{_MEMBER_ID})"
)
_SUBSCRIPTION = re.compile(
    rf"JoinGroupResponseMember\({_MEMBER_ID}, groupInstanceId=(?:null|'[^']*'), metadata={_BYTES}\)"
)
_SYNC = re.compile(rf"\A(?>.*?SyncGroupRequestData\()(?>.*?generationId={_NUMBER}, )")
_ASSIGNMENT = re.compile(rf"SyncGroupRequestAssignment\({_MEMBER_ID}, assignment={_BYTES}\)")
_CONFIGURED = re.compile(r"\A\{ connectorIds=\[(?>(.*?)\], taskIds=\[)(?>(.*?)\]\})")
_DELAY = re.compile(r"to the max: (\d{1,10})\. scheduledRebalance: -?\d{1,19} now: (\d{1,18}) ")
_COMPLETED = re.compile(
    rf"\A{_NUMBER} with protocol version (?>.*?, connectorIds=\[)(?>(.*?)\], taskIds=\[)"
    r"(?>(.*?)\](?:, revokedConnectorIds=|\}))"
)


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
    return AssignmentsSent(
        int(found[1]), tuple((member, _bytes(data)) for member, data in _ASSIGNMENT.findall(text, start))
    )


def _configured(text: str, start: int) -> ConfiguredRead:
    found = _matched(_CONFIGURED, text, start, _CONFIGURED_MARKER)
    counts = dict.fromkeys(_listed(found[1]), 0)
    for task in _tasks(found[2]):
        counts[task.connector] = counts.get(task.connector, 0) + 1
    return ConfiguredRead(ConfiguredJobs(counts))


def _delay(text: str, start: int) -> DelayStarted:
    found = _matched(_DELAY, text, start, _DELAY_MARKER)
    return DelayStarted(int(found[1]), int(found[2]))


def _completed(text: str, start: int) -> Completed:
    found = _matched(_COMPLETED, text, start, _COMPLETED_MARKER)
    return Completed(int(found[1]), Jobs(_listed(found[2]), _tasks(found[3])))


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
_CONFIGURED_MARKER = "Configured assignments: "
_DELAY_MARKER = "Resetting rebalance delay "
_COMPLETED_MARKER = "Joined group at generation "

_READERS: tuple[tuple[str, Callable[[str, int], Message]], ...] = (
    (_JOIN_MARKER, _joined),
    (_SYNC_MARKER, _sent),
    ("Performing task assignment during generation: ", lambda _text, _start: RoundStarted()),
    (_CONFIGURED_MARKER, _configured),
    ("Lost assignments: ", lambda _text, _start: ClockRead()),
    (_DELAY_MARKER, _delay),
    (_COMPLETED_MARKER, _completed),
    ("Connect group member created", lambda _text, _start: ProcessStarted()),
    ("Herder starting", lambda _text, _start: ProcessStarted()),
)
