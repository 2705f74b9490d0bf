"""Format of an experiment's timeline: fields and types."""

from __future__ import annotations

from typing import Any

from assignment_api import TaskIdFormatError
from assignment_api.streams import TaskId
from assignor_lab.documents.shapes import (
    LONG_MAX,
    LONG_MIN,
    Mismatch,
    any_value,
    list_of,
    map_of,
    nullable,
    open_record,
    text,
    whole,
)  # fmt: skip

__all__ = ["HINT", "timeline_fields"]

HINT = "is this the timeline of a recorded experiment?"

_moment = whole(0, LONG_MAX)
_offset = whole(LONG_MIN, LONG_MAX)

_action = open_record({"t": _moment, "event": text}, {"instance": text, "config": any_value}, hint=HINT)


def _task(value: Any) -> str:
    try:
        return str(TaskId.parse(text(value)))
    except TaskIdFormatError as error:
        raise Mismatch(str(error)) from None


def _interruption(value: Any) -> tuple[int, int]:
    """Start after the action, and duration."""
    pair = list_of(_offset)(value)
    if len(pair) != 2:
        raise Mismatch("expected two numbers: when it began, and how long it was")
    return pair[0], pair[1]


def _group_task(value: Any) -> str:
    """0-3, or 0-3@8 with the epoch of its assignment."""
    subtopology, _, partition = text(value).partition("@")[0].rpartition("-")
    return _task(f"{subtopology}_{partition}")


_tasks = list_of(_task)
_group_tasks = list_of(_group_task)
_target = open_record(
    {"t": _moment, "epoch": whole(0, LONG_MAX),
     "target": map_of(text, open_record({"active": _group_tasks}, {"standby": _group_tasks}, hint=HINT))},
    hint=HINT,
)  # fmt: skip
_change = open_record(
    {"t": _moment, "member": text},
    {"event": text, "state": text, "active": _group_tasks, "standby": _group_tasks},
    hint=HINT,
)
_member = open_record({"active": _tasks}, {"standby": _tasks}, hint=HINT)
_generation = open_record(
    {"generation": whole(-1, LONG_MAX)},
    {
        "prepare_t": nullable(_moment), "joined_t": nullable(_moment), "assignment_t": nullable(_moment),
        "members": nullable(_moment), "reason": nullable(text), "client_reason": nullable(text),
        "assigned": nullable(map_of(text, _member)), "followup_probing": any_value, "immediate_followup": any_value,
    },
    hint=HINT,
)  # fmt: skip
_transfer = open_record(
    {"instance": text, "topic": text, "partition": _moment, "from_t": _moment, "start_offset": _offset},
    {
        "to_t": nullable(_moment), "end_offset": nullable(_offset), "records": nullable(_offset),
        "caught_up_t": nullable(_moment), "last_t": nullable(_moment), "last_offset": nullable(_offset),
    },
    hint=HINT,
)  # fmt: skip
_thread = open_record({"active": _tasks}, {"standby": _tasks}, hint=HINT)
_owned = open_record({"t": _moment, "instance": text}, {"threads": list_of(_thread)}, hint=HINT)
_state = open_record({"t": _moment, "instance": text}, {"from": text, "to": text}, hint=HINT)
_seen = open_record({"interruptions": list_of(_interruption)}, hint=HINT)
_count = whole(0, LONG_MAX)
_restored = open_record(
    {},
    {
        "restored_bytes": _count, "standby_bytes": _count, "restored_records": _count, "standby_records": _count,
    },
    hint=HINT,
)  # fmt: skip
_window = open_record(
    {"t": _moment, "end_t": _moment, "phase": text, "tasks": map_of(_task, _seen)}, {"restored": _restored}, hint=HINT
)
timeline_fields = open_record(
    {"experiment": text, "kind": text, "group": text, "actions": list_of(_action)},
    {
        "generations": list_of(_generation), "restorations": list_of(_transfer), "standby_loads": list_of(_transfer),
        "owned": list_of(_owned), "probe": list_of(_window), "run": any_value,
        "states": list_of(_state), "targets": list_of(_target), "member_states": list_of(_change),
        "clients": map_of(text, text),
    },
    hint=HINT,
)  # fmt: skip
