"""Reads and writes the text that Kafka prints for client states.

One state, as ``ClientState#toString`` has written it since Kafka 2.6 (white space added here)::

    [activeTasks: ([0_0]) standbyTasks: ([]) prevActiveTasks: ([]) prevStandbyTasks: ([])
     prevOwnedPartitionsByConsumerId: ([])        only Kafka 2.6
     changelogOffsetTotalsByTask: ([0_0=5]) taskLagTotals: ([0_0=0])
     clientTags: ([zone=a])                       Kafka 3.2 and later
     capacity: 2 assigned: 1]

A map of them is ``{process id=state, process id=state}``. Reading takes time linear in the text, and ends in a
value or in a :class:`ClientStateTextError` that says where.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import attrs

from assignment_api.streams import ProcessID, TaskId
from assignor_lab.capture.errors import ClientStateTextError
from assignor_lab.documents.wording import plural

__all__ = [
    "ClientStateText",
    "parse_client_states",
    "parse_consumer_tasks",
    "parse_placements",
    "parse_task_list",
    "render_client_states",
]

UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
# Names of topologies have the characters of topic names.
_TASK = r"(?:[A-Za-z0-9._-]+__)?[0-9]{1,10}_[0-9]{1,10}"
# Possessive: a list without an end costs one pass, not one for each item.
_TASK_LIST = re.compile(rf"\[(?:{_TASK}(?:, {_TASK})*+)?(\])?")
_TASK_NUMBER = rf"{_TASK}=-?[0-9]{{1,19}}"
_TASK_NUMBERS = re.compile(rf"\[(?:{_TASK_NUMBER}(?:, {_TASK_NUMBER})*+)?(\])?")
_PROCESS = re.compile(rf"({UUID})=")
_PLACEMENT_START = re.compile(rf"({UUID})=(?=\[activeTasks: \()")
_CAPACITY = re.compile(r" capacity: ([0-9]{1,10}) assigned: (-?[0-9]{1,10})\]")
_TAGS_END = re.compile(
    r"\]\)(?= capacity: [0-9]{1,10} assigned: -?[0-9]{1,10}\](?:\}|, " + UUID + r"=\[activeTasks: \())"
)
# A member id starts with the client id, which is arbitrary text. It ends before a list of tasks.
_CONSUMER_END = re.compile(rf"=(?=\[(?:\]|{_TASK}[,\]]))")
_LONG_MIN, _LONG_MAX = -(2**63), 2**63 - 1


@attrs.frozen
class ClientStateText:
    """One client as Kafka prints it, in the order of the text.

    Args:
        previous_standby: Other tasks of which it had state.
        offset_totals: Sums of changelog offsets that the members reported.
        lags: In offsets, with Kafka's sentinels -2 (was running active there) and -3 (unknown).
        tags: ``None`` if Kafka's version prints none.
    """

    active: tuple[TaskId, ...] = ()
    standby: tuple[TaskId, ...] = ()
    previous_active: tuple[TaskId, ...] = ()
    previous_standby: tuple[TaskId, ...] = ()
    offset_totals: Mapping[TaskId, int] = attrs.field(factory=dict)
    lags: Mapping[TaskId, int] = attrs.field(factory=dict)
    tags: Mapping[str, str] | None = None
    capacity: int = 1


def parse_client_states(text: str, start: int = 0) -> tuple[dict[ProcessID, ClientStateText], int]:
    """Reads ``{process id=state, ...}``; also returns the index behind the closing brace."""
    position = _literal(text, start, "{")
    states: dict[ProcessID, ClientStateText] = {}
    while not text.startswith("}", position):
        if states:
            position = _literal(text, position, ", ")
        process, position = _process(text, position)
        if process in states:
            raise ClientStateTextError(position, f"client {process} stands here a second time")
        states[process], position = _client_state(text, position)
    return states, position + 1


def parse_placements(text: str) -> dict[ProcessID, tuple[tuple[TaskId, ...], tuple[TaskId, ...]]]:
    """Finds every ``process id=[activeTasks: (...) standbyTasks: (...)]``: process to (active, standby)."""
    placements: dict[ProcessID, tuple[tuple[TaskId, ...], tuple[TaskId, ...]]] = {}
    position = 0
    while found := _PLACEMENT_START.search(text, position):
        process = ProcessID.parse(found[1])
        if process in placements:
            raise ClientStateTextError(found.start(), f"client {process} stands here a second time")
        active, position = _tasks(text, _literal(text, found.end(), "[activeTasks: ("))
        standby, position = _tasks(text, _literal(text, position, ") standbyTasks: ("))
        # Kafka 2.6 continues with the rest of the state.
        if not text.startswith(") prevActiveTasks: (", position):
            position = _literal(text, position, ")]")
        placements[process] = (active, standby)
    if not placements:
        raise ClientStateTextError(len(text), "expected process id=[activeTasks: ([...]) standbyTasks: ([...])]")
    return placements


def parse_task_list(text: str, start: int = 0) -> tuple[tuple[TaskId, ...], int]:
    """Reads ``[0_0, 0_1]``; also returns the index behind the closing bracket."""
    return _tasks(text, start)


def parse_consumer_tasks(text: str, start: int = 0) -> tuple[dict[str, tuple[TaskId, ...]], int]:
    """Reads ``{consumer=[0_0, 1_0], consumer=[]}``; also returns the index behind the closing brace."""
    position = _literal(text, start, "{")
    consumers: dict[str, tuple[TaskId, ...]] = {}
    while not text.startswith("}", position):
        found = _CONSUMER_END.search(text, position)
        name = "" if found is None else text[position : found.start()].removeprefix(", ")
        if found is None or "\n" in name:
            raise ClientStateTextError(position, "expected member id=[tasks]")
        consumers[name], position = _tasks(text, found.end())
    return consumers, position + 1


def render_client_states(states: Mapping[ProcessID, ClientStateText]) -> str:
    """The form of 3.2 if a state has tags, else of 2.7."""
    return "{" + ", ".join(f"{process}={_render(state)}" for process, state in states.items()) + "}"


# --- reading --------------------------------------------------------------------------------------


def _client_state(text: str, position: int) -> tuple[ClientStateText, int]:
    active, position = _tasks(text, _literal(text, position, "[activeTasks: ("))
    standby, position = _tasks(text, _literal(text, position, ") standbyTasks: ("))
    previous_active, position = _tasks(text, _literal(text, position, ") prevActiveTasks: ("))
    previous_standby, position = _tasks(text, _literal(text, position, ") prevStandbyTasks: ("))
    if text.startswith(") prevOwnedPartitionsByConsumerId: (", position):
        position = _bracketed(text, position + len(") prevOwnedPartitionsByConsumerId: ("))
    offset_totals, position = _numbers(text, _literal(text, position, ") changelogOffsetTotalsByTask: ("))
    lags, position = _numbers(text, _literal(text, position, ") taskLagTotals: ("))
    tags: dict[str, str] | None = None
    position = _literal(text, position, ")")
    if text.startswith(" clientTags: (", position):
        tags, position = _tags(text, _literal(text, position + len(" clientTags: ("), "["))
    found = _CAPACITY.match(text, position)
    if found is None:
        raise ClientStateTextError(position, "expected ' capacity: N assigned: N]'")
    if int(found[2]) != len(active) + len(standby):
        raise ClientStateTextError(
            position,
            f"'assigned: {found[2]}', but the lists before it name {plural(len(active) + len(standby), 'task')}",
        )
    state = ClientStateText(
        active, standby, previous_active, previous_standby, offset_totals, lags, tags, int(found[1])
    )
    return state, found.end()


def _literal(text: str, position: int, expected: str) -> int:
    if text.startswith(expected, position):
        return position + len(expected)
    # The line is cut or garbled at the first differing character.
    same = 0
    while same < len(expected) and text[position + same : position + same + 1] == expected[same]:
        same += 1
    cut = " (the text ends here)" if position + same >= len(text) else ""
    raise ClientStateTextError(position + same, f"expected {expected[same:]!r}{cut}")


def _process(text: str, position: int) -> tuple[ProcessID, int]:
    found = _PROCESS.match(text, position)
    if found is None:
        raise ClientStateTextError(position, "expected a process id (a UUID) and '='")
    return ProcessID.parse(found[1]), found.end()


def _tasks(text: str, position: int) -> tuple[tuple[TaskId, ...], int]:
    found = _TASK_LIST.match(text, position)
    if found is None or found[1] is None:
        raise _list_error(text, position, found, "tasks such as [0_0, 1_2]")
    inside = text[position + 1 : found.end() - 1]
    return tuple(_task(item, position) for item in inside.split(", ")) if inside else (), found.end()


def _list_error(text: str, start: int, found: re.Match[str] | None, subject: str) -> ClientStateTextError:
    position = start if found is None else found.end()
    cut = " (the text ends here)" if position >= len(text) else ""
    return ClientStateTextError(position, f"expected a list of {subject}{cut}")


def _numbers(text: str, position: int) -> tuple[dict[TaskId, int], int]:
    found = _TASK_NUMBERS.match(text, position)
    if found is None or found[1] is None:
        raise _list_error(text, position, found, "tasks and numbers such as [0_0=5, 1_2=-2]")
    inside = text[position + 1 : found.end() - 1]
    numbers: dict[TaskId, int] = {}
    for item in inside.split(", ") if inside else ():
        name, _, digits = item.rpartition("=")
        number = int(digits)
        if not _LONG_MIN <= number <= _LONG_MAX:
            raise ClientStateTextError(position, f"{digits} is wider than 64 bits")
        numbers[_task(name, position)] = number
    return numbers, found.end()


def _task(text: str, position: int) -> TaskId:
    task = _parsed(text)
    if task is None:
        raise ClientStateTextError(position, f"task {text} has a number wider than 32 bits")
    return task


@lru_cache(maxsize=1 << 16)  # every client names the same tasks
def _parsed(text: str) -> TaskId | None:
    name, separator, rest = text.rpartition("__")
    subtopology, _, partition = (rest if separator else text).partition("_")
    numbers = int(subtopology), int(partition)
    return TaskId(numbers[0], numbers[1], name or None) if max(numbers) < 2**31 else None


def _bracketed(text: str, position: int) -> int:
    end = text.find("]", position)
    if end < 0 or not text.startswith("[", position):
        raise ClientStateTextError(position, "expected a list in brackets")
    return end + 1


def _tags(text: str, position: int) -> tuple[dict[str, str], int]:
    # Keys and values are arbitrary text with brackets and commas. The list ends before its mandatory successor.
    end = _TAGS_END.search(text, position)
    if end is None:
        raise ClientStateTextError(position, "expected client tags such as [zone=a], then capacity and assigned")
    tags: dict[str, list[str]] = {}
    last: list[str] | None = None
    inside = text[position : end.start()]
    for piece in inside.split(", ") if inside else ():
        key, separator, value = piece.partition("=")
        if separator and key not in tags:
            last = tags[key] = [value]
        elif last is not None:
            # A value may hold ", ", and keys are unique, so this piece belongs to the previous value.
            last.append(piece)
        else:
            raise ClientStateTextError(position, f"expected key=value, found {piece!r}")
    return {key: ", ".join(pieces) for key, pieces in tags.items()}, end.end()


# --- writing --------------------------------------------------------------------------------------


def _render(state: ClientStateText) -> str:
    tags = "" if state.tags is None else f" clientTags: ({_entries(state.tags)})"
    return (
        f"[activeTasks: ({_list(state.active)}) standbyTasks: ({_list(state.standby)})"
        f" prevActiveTasks: ({_list(state.previous_active)}) prevStandbyTasks: ({_list(state.previous_standby)})"
        f" changelogOffsetTotalsByTask: ({_entries(state.offset_totals)}) taskLagTotals: ({_entries(state.lags)})"
        f"{tags} capacity: {state.capacity} assigned: {len(state.active) + len(state.standby)}]"
    )


def _list(tasks: tuple[TaskId, ...]) -> str:
    return "[" + ", ".join(map(str, tasks)) + "]"


def _entries(mapping: Mapping[TaskId, int] | Mapping[str, str]) -> str:
    return "[" + ", ".join(f"{key}={value}" for key, value in mapping.items()) + "]"
