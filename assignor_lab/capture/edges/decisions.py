"""Decisions of documents as values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.streams import TaskId
from assignment_api.streams.configs import (
    ACCEPTABLE_RECOVERY_LAG,
    NUM_STANDBY_REPLICAS,
    PROBING_REBALANCE_INTERVAL_MS,
)
from assignor_lab.capture.edges.decision_input import DecisionInput, named_tasks, protocol_of
from assignor_lab.capture.edges.moments import (
    CLASSIC,
    LEAST_PROBING_MS,
    DecisionEvidence,
    DecisionMoment,
    Participant,
)
from assignor_lab.capture.recorded.partition_states import noted_events
from assignor_lab.documents.errors import Place
from assignor_lab.model.events import (
    GroupEvent,
    InstanceGone,
    InstanceRestartedInSession,
    InstanceStarted,
    InstanceStopped,
    MemberFenced,
    TasksCorrupted,
)
from assignor_lab.model.evidence import Evidence, EvidenceKind, InferenceRule
from assignor_lab.model.moment import Moment
from assignor_lab.scenarios.consumers import (
    client_of,
    consumer_names,
    instance_id_of,
    static_instance,
    static_members_of,
    thread_of,
)
from assignor_lab.scenarios.formats.events import read_events

__all__ = ["moment_of", "moment_of_state"]


def moment_of(document: Mapping[str, Any]) -> DecisionMoment:
    """Of a checked scenario that has a time."""
    source, observed = document["source"], document["observed"]
    if protocol_of(document) == CLASSIC:
        participants = [_client(client) for client in document["clients"]]
        placed = {name: _sorted(held["active"], held["standby"]) for name, held in observed["assignment"].items()}
    else:
        participants = _processes(document["members"], source.get("client_ids", {}))
        placed = _placed(document)
    return DecisionMoment(
        source["time_ms"],
        source.get("prepared_ms"),
        source.get("generation"),
        source.get("reason", ""),
        "probing" if observed.get("followup") else "none",
        {each.process_id: _on_host(each, source.get("hosts", {})) for each in participants},
        placed,
        DecisionInput(document),
        _evidence_of(document, placed),
        Place(source.get("file", "-"), source.get("line")),
        protocol_of(document) or CLASSIC,
        noted_events(source),
    )


def moment_of_state(document: Mapping[str, Any], begin_ms: int) -> DecisionMoment:
    """Of a checked state. If it holds no decision, each member keeps its tasks.

    Ids of members show static ones if the source does not name them.

    Args:
        begin_ms: Time of a state that has none.
    """
    is_classic = protocol_of(document) == CLASSIC
    filled = {**document, "source": {"time_ms": begin_ms, **(document.get("source") or {})}}
    if is_classic:
        filled["clients"] = [{"members": static_members_of(each["consumers"]), **each} for each in document["clients"]]
    if "observed" not in document and is_classic:
        roles = {"active": "previous_active", "standby": "previous_standby"}
        filled["observed"] = {"assignment": {each["process_id"]: _held(each, roles) for each in document["clients"]}}
    elif "observed" not in document:
        roles = {role: role for role in ("active", "standby", "warmup")}
        filled["observed"] = {"members": {each["id"]: _held(each, roles) for each in document["members"]}}
    return moment_of(filled)


def _held(fields: Mapping[str, Any], roles: Mapping[str, str]) -> dict[str, Any]:
    return {role: fields[key] for role, key in roles.items()}


def _on_host(each: Participant, hosts: Mapping[str, str]) -> Participant:
    found = {hosts[member] for member in each.members if member in hosts}
    return attrs.evolve(each, host=found.pop()) if len(found) == 1 else each


# --- classic protocol -----------------------------------------------------------------------------


def _client(client: Mapping[str, Any]) -> Participant:
    names = consumer_names(client)
    instance = static_instance(client)
    # The number of its thread is behind the instance's id.
    prefix = "" if instance is None else f"{instance}-"
    of = client.get("members", {})
    threads = {
        thread_of(name, (of.get(member, {}).get("instance_id") or "").removeprefix(prefix)): member
        for member, name in names.items()
    }
    return Participant(
        client["process_id"],
        _client_id(names.values()),
        frozenset(names),
        max(1, client["threads"]),
        client["rack"] or "",
        client["tags"] or {},
        client["host"] or "",
        instance,
        threads=threads,
    )


def _client_id(consumers: Iterable[str]) -> str | None:
    found = {client_of(name) for name in consumers if thread_of(name) != name}
    return found.pop() if len(found) == 1 else None


# --- streams protocol -----------------------------------------------------------------------------


def _processes(members: Iterable[Mapping[str, Any]], client_ids: Mapping[str, str]) -> list[Participant]:
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for member in members:
        grouped.setdefault(member["process_id"], []).append(member)
    found = []
    for process, of in grouped.items():
        first = of[0]
        ids = [member["id"] for member in of]
        names = {member["id"]: client_ids.get(member["id"]) or member.get("client_id") or "" for member in of}
        client_id = _client_id(names.values())
        threads = {thread_of(names[name], name): name for name in ids}
        instance = instance_id_of((member["instance_id"], thread_of(names[member["id"]], "1")) for member in of)
        found.append(
            Participant(
                process,
                client_id,
                frozenset(ids),
                len(of),
                first["rack"] or "",
                first["tags"] or {},
                instance_id=instance,
                member_ids=tuple(ids),
                threads=threads,
            )
        )
    return found


def _placed(document: Mapping[str, Any]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    held: dict[str, tuple[list[str], list[str]]] = {each["process_id"]: ([], []) for each in document["members"]}
    process_of = {each["id"]: each["process_id"] for each in document["members"]}
    for member, target in document["observed"]["members"].items():
        if member in process_of:
            active, copies = held[process_of[member]]
            active += named_tasks(target["active"])
            copies += [*named_tasks(target["standby"]), *named_tasks(target["warmup"])]
    return {process: _sorted(active, copies) for process, (active, copies) in held.items()}


def _sorted(active: Iterable[str], copies: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return _in_order(active), _in_order(copies)


def _in_order(tasks: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(dict.fromkeys(tasks), key=lambda task: TaskId.parse(task).sort_key()))


# --- facts of a decision ---------------------------------------------------------------------------


def _evidence_of(
    document: Mapping[str, Any], placed: Mapping[str, tuple[Sequence[str], Sequence[str]]]
) -> DecisionEvidence:
    config, source, given = document["config"], document["source"], DecisionInput(document)
    ran, tasks = given.previous_owners, given.tasks
    moved = sum(ran.get(task, process) != process for process, (active, _) in placed.items() for task in active)
    found = DecisionEvidence(
        events=tuple(sorted(_events(source), key=lambda each: each.at.latest_ms)),
        moved=moved,
        assignor=str((document.get("observed") or {}).get("assignor") or source.get("assignor") or "").lower(),
        standbys=config.get(NUM_STANDBY_REPLICAS, 0),
        stateful=frozenset(task for task, is_logged in tasks.items() if is_logged),
    )
    if not given.is_classic:
        return found
    return attrs.evolve(
        found,
        tasks=frozenset(tasks),
        hands_over=bool(moved) or _hands_over(document),
        probing_ms=config.get(PROBING_REBALANCE_INTERVAL_MS, LEAST_PROBING_MS),
        recovery_lag=config.get(ACCEPTABLE_RECOVERY_LAG),
        copy_lags={client["process_id"]: _copy_lags(client) for client in document["clients"]},
    )


def _events(source: Mapping[str, Any]) -> Iterator[GroupEvent]:
    line = Evidence.line(Place(source.get("file", "-"), source.get("line")))
    yield from read_events(source.get("events", ()), Place(source.get("file", "-"), source.get("line")))
    for each in noted_events(source):
        at, client, kind = Moment.at(each.time_ms), each.client, each.type
        if kind == "start":
            yield InstanceStarted(at, line, client)
        elif kind == "stop":
            yield InstanceStopped(at, line, client)
        elif kind == "fenced":
            yield MemberFenced(at, line, client, reason="its session ended")
        elif kind == "gone":
            yield InstanceGone(at, Evidence(EvidenceKind.RECORD, line.place), client)
        elif kind == "corrupt":
            yield TasksCorrupted(at, line, client, each.tasks)
        elif kind == "rejoined":
            rewritten = Evidence.inferred(InferenceRule.REWRITTEN, line.place)
            yield InstanceRestartedInSession(at, rewritten, client)


def _copy_lags(client: Mapping[str, Any]) -> dict[str, int]:
    lags = client.get("lags") or {}
    found = ((task, lags.get(task)) for task in client["previous_standby"])
    return {task: lag for task, lag in found if lag is not None and lag >= 0}


def _hands_over(document: Mapping[str, Any]) -> bool:
    clients: Sequence[Mapping[str, object]] = document["clients"]
    threads, owners = document["observed"].get("threads"), _owners(clients)
    if not threads or owners is None:
        return False
    given = {task: name for name, held in threads.items() for task in held["active"]}
    return any(given.get(task) != name for task, name in owners.items())


def _owners(clients: Iterable[Mapping[str, object]]) -> dict[str, str] | None:
    """As reported; ``None`` if the source names no consumers."""
    found: dict[str, str] = {}
    for client in clients:
        reported = client["previous_by_consumer"]
        if not isinstance(reported, Mapping):
            return None
        active = set(_texts(client["previous_active"]))
        found |= {task: name for name, tasks in reported.items() for task in tasks if task in active}
    return found


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else []
