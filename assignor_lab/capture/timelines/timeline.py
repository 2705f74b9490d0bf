"""The timeline of a recorded experiment: actions, and the group's reactions (``data/captures``)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from assignor_lab.capture.timelines.timeline_format import HINT, timeline_fields
from assignor_lab.documents.errors import Place
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.lines import bounded_lines
from assignor_lab.documents.shapes import Mismatch, faults_at

__all__ = [
    "TimelineAction",
    "MemberChange",
    "TimelineGeneration",
    "RecordedTarget",
    "RecordedTimeline",
    "Transfer",
    "read_timeline",
]

_LARGEST = 256 * 1024 * 1024

_EVENTS = {"start": "start", "SIGTERM": "stop", "kill -9": "crash", "state directory removed": "lose_disk"}
_ENDED = "ended"


@attrs.frozen
class TimelineAction:
    """An action on an instance."""

    time_ms: int
    type: str
    instance: str


@attrs.frozen
class Transfer:
    """A load: one changelog partition that an instance restored or followed.

    Args:
        end_offset: The changelog's end at the start, or the last offset that was followed.
        end_ms: Time of that end.
        done_ms: End of the load, or first time that a standby followed the changelog.
        is_standby: True for a warm-up, too.
        machine: With a shared disk and network; an experiment has one.
    """

    instance: str
    topic: str
    partition: int
    from_ms: int
    start_offset: int
    end_offset: int
    end_ms: int
    done_ms: int | None
    records: int | None
    is_standby: bool
    machine: str = ""
    thread: str = ""


@attrs.frozen
class TimelineGeneration:
    """A completed generation.

    Args:
        joined_ms: All members had joined.
        followup: ``none``, ``immediate`` or ``probing``.
        assigned: Consumer to active and standby tasks.
    """

    number: int
    prepared_ms: int
    joined_ms: int
    assigned_ms: int
    reason: str
    members: int
    followup: str
    assigned: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]


@attrs.frozen
class RecordedTarget:
    """A target that the broker of a streams group computed."""

    time_ms: int
    epoch: int
    tasks: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]


@attrs.frozen
class MemberChange:
    """A change of a streams group member, from its broker's records.

    Args:
        event: ``joins``, ``left``, ``fenced: ...``, or ``""`` for a change of state.
        state: ``STABLE``, ``UNREVOKED_TASKS``, ``UNRELEASED_TASKS``, or ``""``.
    """

    time_ms: int
    member: str
    event: str
    state: str
    active: tuple[str, ...]
    standby: tuple[str, ...]


@attrs.frozen(eq=False)
class RecordedTimeline:
    """A recorded experiment.

    Args:
        ended: Processes that had been asked to end.
        generations: Or targets of a streams group, by time.
        owned: Reported tasks.
        begun: Instances with started threads, by time.
        probe: Observations of an outside probe by action.
        record_bytes: Of a record in a changelog; ``None`` if not from a log.
        targets: By member and time.
    """

    name: str
    kind: str
    group: str
    done: tuple[TimelineAction, ...]
    ended: tuple[tuple[int, str], ...]
    end_ms: int
    generations: tuple[TimelineGeneration, ...]
    members: tuple[MemberChange, ...]
    clients: Mapping[str, str]
    group_config: Mapping[str, str]
    transfers: tuple[Transfer, ...]
    owned: tuple[tuple[int, str, tuple[str, ...]], ...]
    begun: tuple[tuple[int, str], ...]
    probe: tuple[Mapping[str, Any], ...] | None
    document: Mapping[str, Any]
    place: Place
    record_bytes: float | None = None
    targets: tuple[RecordedTarget, ...] = ()


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
            raise Mismatch(f"larger than {_LARGEST:,} bytes: {HINT}")
        return _timeline(parse_json(b"".join(lines)), place)


def _timeline(document: Any, place: Place) -> RecordedTimeline:
    fields = timeline_fields(document)
    if not fields["kind"].startswith("streams"):
        raise Mismatch(f'is of kind "{fields["kind"]:.60}": episodes are made of those of Streams groups', "kind")
    done = sorted(_done(fields["actions"]), key=lambda each: each.time_ms)
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
    targets = tuple(sorted(map(_target, fields.get("targets", ())), key=lambda each: each.time_ms))
    return RecordedTimeline(
        name=fields["experiment"],
        kind=fields["kind"],
        group=fields["group"],
        done=tuple(done),
        ended=tuple(
            (each["t"], each["instance"])
            for each in fields["actions"]
            if each["event"] == _ENDED and "instance" in each
        ),
        end_ms=max(each["t"] for each in fields["actions"]),
        generations=tuple(
            made for each in fields.get("generations", ()) if (made := _completed(each)) is not None
        ) + tuple(_targeted(each, fields.get("clients", {})) for each in targets),
        members=tuple(sorted(map(_changed, fields.get("member_states", ())), key=lambda each: each.time_ms)),
        clients=fields.get("clients", {}),
        group_config=_group_config(fields["actions"]),
        transfers=tuple(sorted(transfers, key=lambda each: each.from_ms)),
        owned=tuple(owned),
        begun=tuple(
            sorted(
                (each["t"], each["instance"])
                for each in fields.get("states", ())
                if (each.get("from"), each.get("to")) == ("CREATED", "REBALANCING")
            )
        ),
        probe=tuple(fields["probe"]) if "probe" in fields else None,
        document=document,
        place=place,
        targets=targets,
    )  # fmt: skip


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
    if fields.get("immediate_followup"):
        followup = "immediate"
    else:
        followup = "probing" if fields.get("followup_probing") else "none"
    return TimelineGeneration(
        fields["generation"],
        joined if prepared is None else prepared,
        joined,
        assigned,
        reason,
        fields.get("members") or 0,
        followup,
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
    return MemberChange(
        fields["t"],
        fields["member"],
        fields.get("event", ""),
        fields.get("state", ""),
        tuple(fields.get("active", ())),
        tuple(fields.get("standby", ())),
    )


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
