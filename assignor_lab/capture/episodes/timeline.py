"""The timeline of a recorded experiment: what was done when, and what a group did then (``data/captures``)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from assignor_lab.capture.episodes.timeline_format import HINT, timeline_fields
from assignor_lab.documents.errors import Place
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.lines import bounded_lines
from assignor_lab.documents.shapes import Mismatch, faults_at

__all__ = ["Done", "MemberChange", "RecordedGeneration", "RecordedTarget", "Timeline", "Transfer", "read_timeline"]

#: Most bytes of a timeline.
_LARGEST = 256 * 1024 * 1024

#: What an experiment calls an action to what an episode calls it.
_EVENTS = {"start": "start", "SIGTERM": "stop", "kill -9": "crash", "state directory removed": "lose_disk"}
#: The end of a process that was asked to end.
_ENDED = "ended"


@attrs.frozen
class Done:
    """Something that was done to an instance.

    Args:
        time_ms: When, in epoch milliseconds.
        type: Type of the episode's event.
        instance: Name of the instance.
    """

    time_ms: int
    type: str
    instance: str


@attrs.frozen
class Transfer:
    """State of one changelog partition that an instance read back, or followed.

    Args:
        instance: Who did.
        topic: The changelog.
        partition: Its partition.
        from_ms: When that began.
        start_offset: Where it began.
        end_offset: The changelog's end then, or as far as it was followed.
        end_ms: When the end was there.
        done_ms: When it was complete, or a standby first followed the changelog; ``None``: not known.
        records: Records read, or ``None``: not known.
        is_standby: For a standby or a warm-up.
        machine: What shares a disk and a network with it; instances of an experiment are on one.
        thread: Who of its instance reads it; empty: not known.
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
class RecordedGeneration:
    """A generation that was completed.

    Args:
        number: Its number.
        prepared_ms: When the rebalance began, in epoch milliseconds.
        joined_ms: When all had joined.
        assigned_ms: When the leader's assignment came.
        reason: What set it off.
        members: Number of members.
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
    """A target that the broker of a streams group computed.

    Args:
        time_ms: When, in epoch milliseconds.
        epoch: Of which epoch.
        tasks: Member to active and standby tasks.
    """

    time_ms: int
    epoch: int
    tasks: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]


@attrs.frozen
class MemberChange:
    """A change of a member of a streams group, as its broker wrote it down.

    Args:
        time_ms: When, in epoch milliseconds.
        member: Its id.
        event: ``joins``, ``left``, ``fenced: ...``, or ``""``: it stands elsewhere now.
        state: ``STABLE``, ``UNREVOKED_TASKS``, ``UNRELEASED_TASKS``, or ``""``.
        active: Its active tasks.
        standby: Its standbys.
    """

    time_ms: int
    member: str
    event: str
    state: str
    active: tuple[str, ...]
    standby: tuple[str, ...]


@attrs.frozen(eq=False)
class Timeline:
    """A recorded experiment.

    Args:
        name: Its name.
        kind: ``streams-classic`` or ``streams-group``.
        group: Name of the group, which is the application's id.
        done: What was done, by time.
        ended: When processes that were asked to end had ended, and whose.
        end_ms: When it ended.
        generations: Completed generations of a classic group, or targets of a streams group, by time.
        members: What happened to the members of a streams group, by time.
        clients: Member of a streams group to its client id.
        group_config: What was configured for the group at the broker.
        transfers: What was read back, by time.
        owned: Moments, instances, and the tasks that they said to own.
        begun: Moments at which instances said that they had started their threads, by time.
        probe: What a probe saw from outside, action by action, or ``None``.
        document: The whole document.
        place: Where it was read.
        record_bytes: Bytes of a record in a changelog, or ``None``: the document tells, or nobody does.
        targets: The targets of a streams group member by member, by time.
    """

    name: str
    kind: str
    group: str
    done: tuple[Done, ...]
    ended: tuple[tuple[int, str], ...]
    end_ms: int
    generations: tuple[RecordedGeneration, ...]
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


def read_timeline(path: Path) -> Timeline:
    """Reads a timeline, plain or gzip.

    Raises:
        DocumentFormatError: if it cannot be read, is no timeline of a Streams group, or tells of no start.
    """
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


def _timeline(document: Any, place: Place) -> Timeline:
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
    return Timeline(
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


def _done(actions: list[Mapping[str, Any]]) -> list[Done]:
    return [
        Done(each["t"], _EVENTS[each["event"]], each["instance"])
        for each in actions
        if each["event"] in _EVENTS and "instance" in each
    ]


def _completed(fields: Mapping[str, Any]) -> RecordedGeneration | None:
    prepared, joined, assigned = (fields.get(key) for key in ("prepare_t", "joined_t", "assignment_t"))
    if joined is None or assigned is None:
        return None  # nobody was left to complete it
    reason = "; ".join(filter(None, (fields.get("reason"), fields.get("client_reason"))))
    if fields.get("immediate_followup"):
        followup = "immediate"
    else:
        followup = "probing" if fields.get("followup_probing") else "none"
    return RecordedGeneration(
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
        member: (tuple(told["active"]), tuple(told.get("standby", ()))) for member, told in fields["target"].items()
    }
    return RecordedTarget(fields["t"], fields["epoch"], tasks)


def _targeted(target: RecordedTarget, clients: Mapping[str, str]) -> RecordedGeneration:
    """A target of a streams group by client; its reason is not told."""
    time, assigned = target.time_ms, {clients.get(member, member): tasks for member, tasks in target.tasks.items()}
    return RecordedGeneration(target.epoch, time, time, time, "", len(target.tasks), "none", assigned)


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
    """What was set for the group, such as ``streams.num.standby.replicas=1``."""
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
    # A standby's end is that of the latest batch it told of; a restoration's is that of its beginning.
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
