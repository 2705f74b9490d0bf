"""The recorded past of a Streams group as a document of kind ``streams-episode``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.capture.edges.decision_input import named_tasks
from assignor_lab.capture.edges.happened import Happened, StartedProcess
from assignor_lab.capture.edges.moments import CLASSIC, STREAMS, DecisionMoment
from assignor_lab.scenarios.formats.state_parts import part_document
from assignor_lab.scenarios.state_parts import MemberNames, StateClient, StateMember
from assignor_lab.simulation.streams.episode import Changelog
from assignor_lab.simulation.streams.seen_waits import NO_WAITS, SeenWaits

__all__ = [
    "PastEpisode", "RecordedDowntime", "episode_document", "missing_topics", "opening_document", "static_names",
]  # fmt: skip


@attrs.frozen
class RecordedDowntime:
    """Times of tasks without an owner.

    Args:
        unowned: Task to its intervals.
        bounds_s: Lowest and highest sum under the bounds of inferred times; ``None``: all times are known.
    """

    unowned: Mapping[str, Sequence[tuple[int, int]]]
    shows_restoring: bool = False
    bounds_s: tuple[float, float] | None = None


@attrs.frozen
class PastEpisode:
    """A group's past, to be played.

    Args:
        names: Instances by process id.
        prepared_ms: Start of the rebalance of each decision.
        happened: Events, by time.
        downtime: ``None``: the source does not show it.
        first_ms: Time of the first event.
        waits: Waits of members, as far as the source shows them.
        past_timings: Learned timings that count in plays of the past alone, by name.
        begins_empty: True if the group was new at the first decision.
    """

    group: str
    protocol: str
    moments: Sequence[DecisionMoment]
    names: Mapping[str, str]
    prepared_ms: Sequence[int]
    happened: Sequence[Happened]
    changelogs: Mapping[str, Changelog]
    downtime: RecordedDowntime | None
    first_ms: int
    until_ms: int
    timings: Mapping[str, int]
    assumptions: Sequence[str]
    waits: SeenWaits = NO_WAITS
    past_timings: Mapping[str, int] = attrs.field(factory=dict)
    begins_empty: bool = attrs.field(kw_only=True)


def episode_document(past: PastEpisode) -> dict[str, Any]:
    """Its events are joins, leaves and losses. Kafka's decisions are under ``recorded``, which no simulation reads."""
    first = past.moments[0]
    tasks = _tasks(past.moments, past.protocol)
    waits = {kind: list(each) for kind, each in attrs.asdict(past.waits).items() if each}
    source = {"time_ms": past.first_ms, "group": past.group}
    clients = [] if past.begins_empty else _clients(past)
    return {
        **_beginning(past.moments, past.group or first.input.document["id"], past.protocol, tasks, clients, source),
        "changelogs": _changelogs(past.changelogs),
        "missing_topics": missing_topics(past),
        "events": [_event(each, past.first_ms) for each in past.happened],
        "until_ms": past.until_ms - past.first_ms,
        "timings": dict(past.timings),
        **({"waits": waits} if waits else {}),
        **({"past_timings": dict(past.past_timings)} if past.past_timings else {}),
        "assumptions": list(past.assumptions),
        "recorded": {
            "generations": [_generation(past, place) for place in range(len(past.moments))],
            **({} if past.downtime is None else {"downtime": _downtime(past.downtime, past.first_ms)}),
        },
    }


def opening_document(
    moment: DecisionMoment,
    clients: Iterable[StateClient],
    changelogs: Mapping[str, Changelog],
    until_ms: int,
    assumptions: Iterable[str],
) -> dict[str, Any]:
    """An episode without events that begins with a decided state."""
    tasks, source = _tasks([moment], moment.protocol), {"time_ms": moment.time_ms}
    written = list(map(part_document, clients))
    return {
        **_beginning([moment], moment.input.document["id"], moment.protocol, tasks, written, source),
        "changelogs": _changelogs(changelogs),
        "events": [],
        "until_ms": until_ms,
        "assumptions": list(dict.fromkeys(assumptions)),
    }


def _beginning(
    moments: Sequence[DecisionMoment],
    name: str,
    protocol: str,
    tasks: Sequence[Mapping[str, Any]],
    clients: Sequence[Mapping[str, Any]],
    source: Mapping[str, Any],
) -> dict[str, Any]:
    first = moments[0].input.document
    return {
        "format": 1,
        "kind": "streams-episode",
        "id": name,
        "protocol": protocol,
        **({"assignor": first["source"]["assignor"]} if "assignor" in first["source"] else {}),
        "initial": {
            "format": 1,
            "kind": "streams",
            "id": first["id"],
            "config": first["config"],
            "tasks": tasks,
            "clients": clients,
            "source": source,
            **_workload(moments, tasks),
        },
    }


def _changelogs(changelogs: Mapping[str, Changelog]) -> dict[str, Any]:
    return {
        task: {
            "records": each.records,
            "bytes_per_record": each.bytes_per_record,
            "records_per_s": each.records_per_s,
            "backlog_records": each.backlog_records,
            **({"in_memory_share": each.in_memory_share} if each.in_memory_share else {}),
        }
        for task, each in changelogs.items()
    }


# --- the group at the beginning -----------------------------------------------------------------------


def _tasks(moments: Iterable[DecisionMoment], protocol: str) -> list[dict[str, Any]]:
    """From the latest decision that has it: the first decision creates internal topics."""
    documents = [moment.input.document for moment in moments]
    if protocol == STREAMS:
        return _tasks_of_subtopologies(documents)
    found: dict[str, dict[str, Any]] = {}
    for document in documents:
        for task in document["tasks"]:
            known = found.get(task["id"])
            if known is None or known["partitions"] is None or task["partitions"] is not None:
                found[task["id"]] = dict(task)
    return list(found.values())


def _tasks_of_subtopologies(documents: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """In the form of a classic state; stores and partitions are unknown."""
    sizes: dict[str, tuple[int, bool]] = {}
    for document in documents:
        for each in document["subtopologies"]:
            before = sizes.get(each["id"], (0, False))
            sizes[each["id"]] = max(before[0], each["tasks"]), before[1] or each["stateful"]
    return [
        {
            "id": f"{name}_{number}", "stateful": is_stateful, "logged": is_stateful, "stores": None,
            "partitions": None,
        }
        for name, (count, is_stateful) in sizes.items()
        for number in range(count)
    ]  # fmt: skip


def _clients(past: PastEpisode) -> list[dict[str, Any]]:
    first = past.moments[0]
    if past.protocol == CLASSIC:
        return [dict(client) for client in first.input.document["clients"]]
    return [part_document(_client_of(first, process)) for process in first.participants]


def _client_of(moment: DecisionMoment, process: str) -> StateClient:
    each = moment.participants[process]
    members = [member for member in moment.input.members if member.process_id == process]
    return StateClient(
        process, each.rack or None, each.tags, None, each.thread_count, (),
        [task for member in members for task in named_tasks(member.active)],
        [task for member in members for task in named_tasks(member.standby)],
        lags=None, previous_by_consumer=None, members=static_names(members),
    )  # fmt: skip


def static_names(members: Iterable[StateMember]) -> dict[str, MemberNames]:
    """Names of the static ones among the members of a streams group."""
    return {each.id: MemberNames(each.client_id, each.instance_id) for each in members if each.instance_id is not None}


def _workload(moments: Iterable[DecisionMoment], tasks: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The latest known figure counts."""
    known = {task["id"] for task in tasks}
    weights: dict[str, dict[str, Any]] = {}
    found: dict[str, Any] = {}
    for moment in moments:
        workload = moment.input.document.get("workload", {})
        found |= {key: value for key, value in workload.items() if key != "tasks"}
        for task, weighs in workload.get("tasks", {}).items():
            if task in known:
                # Records over time are in the changelogs.
                weights.setdefault(task, {}).update({k: v for k, v in weighs.items() if k != "state_records"})
    if weights:
        found["tasks"] = weights
    return {"workload": found} if found else {}


def missing_topics(past: PastEpisode) -> list[str]:
    """Repartition topics, if the first decision is of a new application.

    A first decision of a later generation than 1 follows one that assigned nothing, as the topics were missing.
    """
    is_first = past.protocol != CLASSIC or past.moments[0].generation in (None, 1)
    if not past.begins_empty or not is_first or any(each.records for each in past.changelogs.values()):
        return []
    return sorted({
        partition["topic"]
        for task in _tasks(past.moments, past.protocol)
        for partition in task["partitions"] or ()
        if partition["topic"].endswith("-repartition")
    })  # fmt: skip


# --- what followed --------------------------------------------------------------------------------------


def _event(each: Happened, first_ms: int) -> dict[str, Any]:
    within = each.within_ms if each.is_open else None
    return {
        "at_ms": each.time_ms - first_ms,
        "type": each.type,
        **({"client": each.name} if each.name else {}),
        **({} if within is None else {"within_ms": [max(0, at - first_ms) for at in within]}),
        **({} if each.started is None else _started(each.started)),
        **({"leave": True} if each.leaves else {}),
        **({} if each.process_id is None else {"process_id": each.process_id}),
        **({} if each.tasks is None else {"tasks": list(each.tasks)}),
        **({} if each.thread is None else {"thread": each.thread}),
        **({} if each.member_id is None else {"member_id": each.member_id}),
    }


def _started(process: StartedProcess) -> dict[str, Any]:
    of = process.participant
    return {
        "threads": process.threads,
        **({"rack": of.rack} if of.rack else {}),
        **({"tags": dict(of.tags)} if of.tags else {}),
        **({"host": of.endpoint} if of.endpoint else {}),
        **({} if process.member_ids is None else {"member_ids": list(process.member_ids)}),
        **({} if of.instance_id is None else {"instance_id": of.instance_id}),
        "process_id": of.process_id,
        **({} if process.startup_ms is None else {"startup_ms": process.startup_ms}),
        **({"joins_ms": list(process.joins_ms)} if process.joins_ms else {}),
    }


def _generation(past: PastEpisode, place: int) -> dict[str, Any]:
    moment = past.moments[place]
    return {
        "t_ms": past.prepared_ms[place] - past.first_ms,
        "assignment_t_ms": moment.time_ms - past.first_ms,
        "generation": moment.generation,
        "reason": moment.reason,
        "members": sum(len(each.members) for each in moment.participants.values()),
        "followup": moment.followup,
        "assigned": {
            past.names[process]: {"active": list(active), "standby": list(standby)}
            for process, (active, standby) in sorted(moment.placed.items())
        },
    }


def _downtime(downtime: RecordedDowntime, first_ms: int) -> dict[str, Any]:
    return {
        "tasks": {
            task: [[begin - first_ms, end - first_ms] for begin, end in intervals]
            for task, intervals in downtime.unowned.items()
            if intervals
        },
        "shows_restoring": downtime.shows_restoring,
        **({} if downtime.bounds_s is None else {"bounds_s": list(downtime.bounds_s)}),
    }
