"""Single log messages of Kafka, as values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import attrs

from assignment_api.streams import ProcessID, TaskId
from assignor_lab.capture.errors import ClientStateTextError
from assignor_lab.capture.logs.client_state_text import (
    ClientStateText,
    parse_client_states,
    parse_consumer_tasks,
    parse_placements,
    parse_task_list,
)
from assignor_lab.capture.logs.messages import SECOND_LINE_OF_TASKS, MessageKind

__all__ = [
    "ClientMetadata",
    "LoggedConsumerTasks",
    "LoggedOutcome",
    "Facts",
    "OptimizationStart",
    "Participants",
    "LoggedPlacement",
    "StatesBefore",
    "TaskLists",
    "TemporaryStandby",
    "assignor_class",
    "generation_of",
    "processes_of",
    "read_message",
]

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_FOLLOWUP = re.compile(r" with( +| no *)followup probing rebalance")
_BEFORE = re.compile(r"Assigning tasks and (-?\d{1,10}) standby replicas to client nodes ")
_BEFORE_3_5 = re.compile(r"\AAssigning tasks \[[^\]]*\] (?:including stateful \[[^\]]*\] )?to clients (?=\{)")
_REPLICAS_3_5 = re.compile(r" with number of replicas (-?\d{1,10})(?!\d)")
# An open list takes the rest of the line: later lists are not searched to the same end.
_PARTICIPANT = re.compile(rf"({_UUID}): \[(?:(.*?)\](?=\.?(?:[\s\"]|\\n|$))|.*)")
_METADATA = re.compile(
    rf"({_UUID})=ClientMetadata\{{hostInfo=(?:null|HostInfo\{{host='([^']*)', port=(\d{{1,10}})\}}), consumers=\["
    r"(?:(.*?)\], state=|.*)"
)
_ENDS_WITH_UUID = re.compile(rf"{_UUID}\Z")
_CLIENT = re.compile(rf"Client ({_UUID}) per-consumer assignment:")
_TEMPORARY = re.compile(
    r"\AAdding removed stateful active task ([^\s,\[\]]+) as a standby for (.+?) (?:until|before) it is "
)
_GENERATION = re.compile(r"generation (?:Generation\{generationId=)?(\d+)")
_INSTANTIATED = re.compile(r"Instantiated (\S+) as the task assignor")


@attrs.frozen
class LoggedOutcome:
    """``Decided on assignment``."""

    states: Mapping[ProcessID, ClientStateText]
    followup: bool


@attrs.frozen
class StatesBefore:
    """``Assigning tasks ... to client nodes``: the input of a decision."""

    states: Mapping[ProcessID, ClientStateText]
    standbys: int


@attrs.frozen
class OptimizationStart:
    """``Assignment before active task optimization is``."""

    states: Mapping[ProcessID, ClientStateText]


@attrs.frozen
class LoggedPlacement:
    """``Assignment of tasks to nodes``, or the older ``Assigned tasks ... to clients as``."""

    tasks: Mapping[ProcessID, tuple[tuple[TaskId, ...], tuple[TaskId, ...]]]


@attrs.frozen
class Participants:
    """``... participating in this rebalance``."""

    consumers: Mapping[ProcessID, tuple[str, ...]]


@attrs.frozen
class ClientMetadata:
    """``Constructed client metadata``: the leader's view of the members' subscriptions.

    Args:
        hosts: ``host:port`` for interactive queries, in the order of Kafka's map.
        consumers: Member ids, ascending.
    """

    hosts: Mapping[ProcessID, str | None]
    consumers: Mapping[ProcessID, tuple[str, ...]]


@attrs.frozen
class TaskLists:
    """``Assigning stateful tasks: ... and stateless tasks: ...``, each in the order of Kafka's sets."""

    stateful: tuple[TaskId, ...]
    stateless: tuple[TaskId, ...]


@attrs.frozen
class LoggedConsumerTasks:
    """``Client ... per-consumer assignment``: the tasks of one client's consumers, before and after.

    Args:
        previous_standby: Other tasks that it reported; every consumer of the client has an entry.
        active: With those that another consumer must revoke first.
        standby: With temporary ones.
    """

    process: ProcessID
    previous_active: Mapping[str, tuple[TaskId, ...]]
    previous_standby: Mapping[str, tuple[TaskId, ...]]
    active: Mapping[str, tuple[TaskId, ...]]
    standby: Mapping[str, tuple[TaskId, ...]]


@attrs.frozen
class TemporaryStandby:
    """``Adding removed stateful active task``: a standby until the old owner has released the task."""

    task: TaskId
    consumer: str


Facts = (
    LoggedOutcome
    | StatesBefore
    | OptimizationStart
    | LoggedPlacement
    | Participants
    | ClientMetadata
    | TaskLists
    | LoggedConsumerTasks
    | TemporaryStandby
)


def read_message(kind: MessageKind, text: str) -> Facts | None:
    """``None`` for kinds without content."""
    reader = _READERS.get(kind)
    return None if reader is None else reader(text)


def processes_of(facts: Facts | None) -> frozenset[ProcessID] | None:
    match facts:
        case LoggedOutcome(states=clients) | StatesBefore(states=clients) | OptimizationStart(states=clients):
            return frozenset(clients)
        case LoggedPlacement(tasks=placed):
            return frozenset(placed)
        case Participants(consumers=consumers) | ClientMetadata(consumers=consumers):
            return frozenset(consumers)
        case _:
            return None


def generation_of(text: str) -> int | None:
    """From ``Finished assignment for group at generation`` or ``Successfully joined group with ...``."""
    found = _GENERATION.search(text)
    return int(found[1]) if found and len(found[1]) < 11 else None


def assignor_class(text: str) -> str | None:
    """From ``Instantiated ... as the task assignor``."""
    found = _INSTANTIATED.match(text)
    return found[1] if found else None


# --- one function for each kind of message ---------------------------------------------------------


def _decided(text: str) -> LoggedOutcome:
    states, end = parse_client_states(text, len(MessageKind.DECIDED.value))
    found = _FOLLOWUP.match(text, end)
    if found is None:
        raise ClientStateTextError(end, "expected ' with followup probing rebalance.' or ' with no followup ...'")
    return LoggedOutcome(states, "no" not in found[1])


def _states_before(text: str) -> StatesBefore:
    if found := _BEFORE.match(text):
        return StatesBefore(parse_client_states(text, found.end())[0], int(found[1]))
    found = _BEFORE_3_5.match(text)
    if found is None:
        raise ClientStateTextError(
            len(MessageKind.CLIENT_STATES.value), "expected 'and N standby replicas to client nodes {'"
        )
    states, end = parse_client_states(text, found.end())
    replicas = _REPLICAS_3_5.match(text, end)
    if replicas is None:
        raise ClientStateTextError(end, "expected ' with number of replicas N'")
    return StatesBefore(states, int(replicas[1]))


def _optimization_start(text: str) -> OptimizationStart:
    return OptimizationStart(parse_client_states(text, len(MessageKind.BEFORE_OPTIMIZATION.value))[0])


def _placement(text: str) -> LoggedPlacement:
    return LoggedPlacement(parse_placements(text))


def _participants(text: str) -> Participants:
    found = {
        ProcessID.parse(match[1]): _members(match[2]) for match in _PARTICIPANT.finditer(text) if match[2] is not None
    }
    if not found:
        raise ClientStateTextError(len(text), "expected lines 'process id: [member ids]'")
    return Participants(found)


def _client_metadata(text: str) -> ClientMetadata:
    found = [(ProcessID.parse(match[1]), match) for match in _METADATA.finditer(text) if match[4] is not None]
    if not found:
        raise ClientStateTextError(len(MessageKind.CLIENT_METADATA.value), "expected {process id=ClientMetadata{...}}")
    return ClientMetadata(
        {process: None if match[2] is None else f"{match[2]}:{match[3]}" for process, match in found},
        {process: _members(match[4]) for process, match in found},
    )


def _task_lists(text: str) -> TaskLists:
    stateful, end = parse_task_list(text, len(MessageKind.TASKS.value))
    second = text.find(SECOND_LINE_OF_TASKS, end)
    if second < 0:
        raise ClientStateTextError(end, f"expected {SECOND_LINE_OF_TASKS + '[...]'!r}")
    return TaskLists(stateful, parse_task_list(text, second + len(SECOND_LINE_OF_TASKS))[0])


def _consumer_tasks(text: str) -> LoggedConsumerTasks:
    found = _CLIENT.match(text)
    if found is None:
        raise ClientStateTextError(0, "expected 'Client', a process id and 'per-consumer assignment:'")
    parts: list[dict[str, tuple[TaskId, ...]]] = []
    position = found.end()
    for label in ("prev owned active ", "prev owned standby ", "assigned active ", "assigned standby "):
        start = text.find(label, position)
        if start < 0:
            raise ClientStateTextError(position, f"expected {label + '{'!r}")
        part, position = parse_consumer_tasks(text, start + len(label))
        parts.append(part)
    return LoggedConsumerTasks(ProcessID.parse(found[1]), parts[0], parts[1], parts[2], parts[3])


def _temporary_standby(text: str) -> TemporaryStandby:
    found = _TEMPORARY.match(text)
    if found is None:
        raise ClientStateTextError(
            len(MessageKind.TEMPORARY_STANDBY.value), "expected a task, 'as a standby for' and a member"
        )
    task, _ = parse_task_list(f"[{found[1]}]")
    return TemporaryStandby(task[0], found[2])


def _members(text: str) -> tuple[str, ...]:
    """Client ids may hold commas: each member id ends with a UUID."""
    pieces = text.split(", ") if text else []
    members: list[str] = []
    begun: list[str] = []
    for piece in pieces:
        begun.append(piece)
        if _ENDS_WITH_UUID.search(piece):
            members.append(", ".join(begun))
            begun = []
    return tuple(members) if not begun else tuple(pieces)


_READERS: Mapping[MessageKind, Callable[[str], Facts]] = {
    MessageKind.DECIDED: _decided,
    MessageKind.CLIENT_STATES: _states_before,
    MessageKind.BEFORE_OPTIMIZATION: _optimization_start,
    MessageKind.PLACEMENT: _placement,
    MessageKind.OLD_PLACEMENT: _placement,
    MessageKind.PARTICIPANTS: _participants,
    MessageKind.CLIENT_METADATA: _client_metadata,
    MessageKind.TASKS: _task_lists,
    MessageKind.CONSUMERS: _consumer_tasks,
    MessageKind.TEMPORARY_STANDBY: _temporary_standby,
}
