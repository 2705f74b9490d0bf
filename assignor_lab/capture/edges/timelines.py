"""The file of a recorded experiment's timeline (``data/captures``): its format, and its value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assignment_api import TaskIdFormatError
from assignment_api.streams import TaskId
from assignor_lab.capture.timelines.timeline import (
    MemberChange,
    ProbedAction,
    ProbedBytes,
    RecordedTarget,
    RecordedTimeline,
    TimelineAction,
    TimelineGeneration,
    Transfer,
)  # fmt: skip
from assignor_lab.documents.errors import Place
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.lines import bounded_lines
from assignor_lab.documents.shapes import (
    LONG_MAX,
    LONG_MIN,
    Mismatch,
    any_value,
    faults_at,
    list_of,
    map_of,
    nullable,
    open_record,
    text,
    whole,
)  # fmt: skip

__all__ = ["read_timeline"]

_LARGEST = 256 * 1024 * 1024
_EVENTS = {"start": "start", "SIGTERM": "stop", "kill -9": "crash", "state directory removed": "lose_disk"}
_ENDED = "ended"
#: Bytes of a record's key, beside the value of ``run.bytes``.
_KEY_BYTES = 9

_HINT = "is this the timeline of a recorded experiment?"

_moment = whole(0, LONG_MAX)
_offset = whole(LONG_MIN, LONG_MAX)

_action = open_record({"t": _moment, "event": text}, {"instance": text, "config": any_value}, hint=_HINT)


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
_target_shape = open_record(
    {"t": _moment, "epoch": whole(0, LONG_MAX),
     "target": map_of(text, open_record({"active": _group_tasks}, {"standby": _group_tasks}, hint=_HINT))},
    hint=_HINT,
)  # fmt: skip
_change = open_record(
    {"t": _moment, "member": text},
    {"event": text, "state": text, "active": _group_tasks, "standby": _group_tasks},
    hint=_HINT,
)
_member = open_record({"active": _tasks}, {"standby": _tasks}, hint=_HINT)
_generation = open_record(
    {"generation": whole(-1, LONG_MAX)},
    {
        "prepare_t": nullable(_moment), "joined_t": nullable(_moment), "assignment_t": nullable(_moment),
        "members": nullable(_moment), "reason": nullable(text), "client_reason": nullable(text),
        "assigned": nullable(map_of(text, _member)), "followup_probing": any_value, "immediate_followup": any_value,
    },
    hint=_HINT,
)  # fmt: skip
_transfer = open_record(
    {"instance": text, "topic": text, "partition": _moment, "from_t": _moment, "start_offset": _offset},
    {
        "to_t": nullable(_moment), "end_offset": nullable(_offset), "records": nullable(_offset),
        "caught_up_t": nullable(_moment), "last_t": nullable(_moment), "last_offset": nullable(_offset),
    },
    hint=_HINT,
)  # fmt: skip
_owned = open_record({"t": _moment, "instance": text}, {"threads": list_of(_member)}, hint=_HINT)
_state = open_record({"t": _moment, "instance": text}, {"from": text, "to": text}, hint=_HINT)
_seen = open_record({"interruptions": list_of(_interruption)}, hint=_HINT)
_count = whole(0, LONG_MAX)
_RESTORED = ("restored_bytes", "standby_bytes", "restored_records", "standby_records")
_restored = open_record({}, dict.fromkeys(_RESTORED, _count), hint=_HINT)
_window = open_record(
    {"t": _moment, "end_t": _moment, "phase": text, "tasks": map_of(_task, _seen)}, {"restored": _restored}, hint=_HINT
)
_timeline_shape = open_record(
    {"experiment": text, "kind": text, "group": text, "actions": list_of(_action)},
    {
        "generations": list_of(_generation), "restorations": list_of(_transfer), "standby_loads": list_of(_transfer),
        "owned": list_of(_owned), "probe": list_of(_window), "run": any_value,
        "states": list_of(_state), "targets": list_of(_target_shape), "member_states": list_of(_change),
        "clients": map_of(text, text),
    },
    hint=_HINT,
)  # fmt: skip


def read_timeline(path: Path) -> RecordedTimeline:
    place = Place(str(path))
    lines, size = [], 0
    for _, line in bounded_lines(str(path)):
        lines.append(line)
        size += len(line)
        if size > _LARGEST:
            break
    with faults_at(place):
        if size > _LARGEST:
            raise Mismatch(f"larger than {_LARGEST:,} bytes: {_HINT}")
        return _timeline(parse_json(b"".join(lines)), place)


def _timeline(document: Any, place: Place) -> RecordedTimeline:
    fields = _timeline_shape(document)
    if not fields["kind"].startswith("streams"):
        raise Mismatch(f'is of kind "{fields["kind"]:.60}": episodes are made of those of Streams groups', "kind")
    actions = fields["actions"]
    ended = [(each["t"], each["instance"]) for each in actions if each["event"] == _ENDED and "instance" in each]
    done = sorted(_done(actions), key=lambda each: each.time_ms)
    if not done or done[0].type != "start":
        raise Mismatch("no instance is started in it before anything else is done to one", "actions")
    transfers = [
        *(_transferred(each, is_standby=False) for each in fields.get("restorations", ())),
        *(_transferred(each, is_standby=True) for each in fields.get("standby_loads", ())),
    ]
    owned = [
        (each["t"], each["instance"], tuple(task for thread in each.get("threads", ()) for task in thread["active"]))
        for each in fields.get("owned", ())
    ]
    begun = [(each["t"], each["instance"]) for each in fields.get("states", ()) if _is_begin(each)]
    targets = tuple(sorted(map(_target, fields.get("targets", ())), key=lambda each: each.time_ms))
    generations = [made for each in fields.get("generations", ()) if (made := _completed(each)) is not None]
    generations += [_targeted(each, fields.get("clients", {})) for each in targets]
    return RecordedTimeline(
        name=fields["experiment"],
        kind=fields["kind"],
        group=fields["group"],
        done=tuple(done),
        ended=tuple(ended),
        end_ms=max(each["t"] for each in actions),
        generations=tuple(generations),
        members=tuple(sorted(map(_changed, fields.get("member_states", ())), key=lambda each: each.time_ms)),
        clients=fields.get("clients", {}),
        group_config=_group_config(actions),
        transfers=tuple(sorted(transfers, key=lambda each: each.from_ms)),
        owned=tuple(owned),
        begun=tuple(sorted(begun)),
        probe=tuple(map(_probe_window, fields["probe"])) if "probe" in fields else None,
        document=document,
        place=place,
        record_bytes=_record_bytes(fields.get("run")),
        targets=targets,
    )


def _is_begin(state: Mapping[str, Any]) -> bool:
    return (state.get("from"), state.get("to")) == ("CREATED", "REBALANCING")


def _done(actions: list[Mapping[str, Any]]) -> list[TimelineAction]:
    return [
        TimelineAction(each["t"], _EVENTS[each["event"]], each["instance"])
        for each in actions
        if each["event"] in _EVENTS and "instance" in each
    ]


def _completed(fields: Mapping[str, Any]) -> TimelineGeneration | None:
    prepared, joined, assigned = (fields.get(key) for key in ("prepare_t", "joined_t", "assignment_t"))
    if joined is None or assigned is None:
        return None  # no member was left to complete it
    reason = "; ".join(filter(None, (fields.get("reason"), fields.get("client_reason"))))
    probing = "probing" if fields.get("followup_probing") else "none"
    return TimelineGeneration(
        fields["generation"],
        joined if prepared is None else prepared,
        joined,
        assigned,
        reason,
        fields.get("members") or 0,
        "immediate" if fields.get("immediate_followup") else probing,
        {
            consumer: (tuple(tasks["active"]), tuple(tasks.get("standby", ())))
            for consumer, tasks in (fields.get("assigned") or {}).items()
        },
    )


def _target(fields: Mapping[str, Any]) -> RecordedTarget:
    tasks = {
        member: (tuple(held["active"]), tuple(held.get("standby", ()))) for member, held in fields["target"].items()
    }
    return RecordedTarget(fields["t"], fields["epoch"], tasks)


def _targeted(target: RecordedTarget, clients: Mapping[str, str]) -> TimelineGeneration:
    """The reason is unknown."""
    time, assigned = target.time_ms, {clients.get(member, member): tasks for member, tasks in target.tasks.items()}
    return TimelineGeneration(target.epoch, time, time, time, "", len(target.tasks), "none", assigned)


def _changed(fields: Mapping[str, Any]) -> MemberChange:
    active, standby = tuple(fields.get("active", ())), tuple(fields.get("standby", ()))
    event, state = fields.get("event", ""), fields.get("state", "")
    return MemberChange(fields["t"], fields["member"], event, state, active, standby)


def _group_config(actions: list[Mapping[str, Any]]) -> dict[str, str]:
    """Such as ``streams.num.standby.replicas=1``."""
    found: dict[str, str] = {}
    for each in actions:
        if each["event"] == "group config" and isinstance(each.get("config"), list):
            for setting in each["config"]:
                key, separator, value = str(setting).partition("=")
                if separator:
                    found[key] = value
    return found


def _transferred(fields: Mapping[str, Any], *, is_standby: bool) -> Transfer:
    end = max(fields.get("end_offset") or 0, fields.get("last_offset") or 0, fields["start_offset"])
    # A standby's end is that of its latest batch; a restore's end is that at its start.
    end_ms = fields.get("last_t") if is_standby else fields["from_t"]
    return Transfer(
        fields["instance"],
        fields["topic"],
        fields["partition"],
        fields["from_t"],
        max(0, fields["start_offset"]),
        max(0, end),
        end_ms or fields["from_t"],
        fields.get("caught_up_t") if is_standby else fields.get("to_t"),
        max(0, end - fields["start_offset"]) if is_standby else fields.get("records"),
        is_standby,
    )


def _probe_window(fields: Mapping[str, Any]) -> ProbedAction:
    interruptions = {task: tuple(seen["interruptions"]) for task, seen in fields["tasks"].items()}
    restored = ProbedBytes(**{each: fields.get("restored", {}).get(each) for each in _RESTORED})
    return ProbedAction(fields["phase"], fields["t"], fields["end_t"], interruptions, restored)


def _record_bytes(run: Any) -> float | None:
    return float(run["bytes"] + _KEY_BYTES) if isinstance(run, dict) and isinstance(run.get("bytes"), int) else None
