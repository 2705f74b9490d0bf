"""A decision of a recorded group in either protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignment_api.streams import TaskId
from assignor_lab.capture.histories.evidence import DecisionEvidence, evidence_of
from assignor_lab.capture.recorded.partition_states import NotedEvent, noted_events
from assignor_lab.documents.errors import Place
from assignor_lab.model.decision import CLASSIC, STREAMS
from assignor_lab.scenarios.consumers import client_of, consumer_names, instance_id_of, static_instance, thread_of

__all__ = ["CLASSIC", "STREAMS", "DecisionMoment", "Participant", "client_of", "moment_of", "protocol_of"]

#: Names in a client and in a ``start`` event.
_SETTINGS = ("rack", "tags", "host")


@attrs.frozen
class Participant:
    """An instance that takes part in a decision.

    Args:
        settings: In a ``start`` event.
        threads: Member ids by thread numbers, or by themselves if the source has no thread names.
        host: Of its members; ``None``: unknown, or they have several.
    """

    process_id: str
    client_id: str | None
    members: frozenset[str]
    settings: Mapping[str, Any]
    threads: Mapping[str, str] = attrs.field(factory=dict)
    host: str | None = None


@attrs.frozen
class DecisionMoment:
    """A decision.

    Args:
        prepared_ms: Start of the rebalance.
        followup: ``none`` or ``probing``.
        placed: Process id to its active tasks and its copies.
        noted: Events of instances before it, or after the last one.
    """

    time_ms: int
    prepared_ms: int | None
    generation: int | None
    reason: str
    followup: str
    participants: Mapping[str, Participant]
    placed: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    document: Mapping[str, Any]
    evidence: DecisionEvidence = DecisionEvidence()  # noqa: RUF009
    place: Place = Place("-")  # noqa: RUF009
    protocol: str = CLASSIC
    noted: tuple[NotedEvent, ...] = ()


def protocol_of(document: Mapping[str, Any]) -> str | None:
    """``None`` if the scenario is no decision of a Streams group.

    A classic leader's input is ``clients``; a broker's input has sub-topologies.
    """
    if "clients" in document:
        return CLASSIC
    return STREAMS if "subtopologies" in document else None


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
        document,
        evidence_of(document, placed),
        Place(source.get("file", "-"), source.get("line")),
        protocol_of(document) or CLASSIC,
        noted_events(source),
    )


def _on_host(each: Participant, hosts: Mapping[str, str]) -> Participant:
    found = {hosts[member] for member in each.members if member in hosts}
    return attrs.evolve(each, host=found.pop()) if len(found) == 1 else each


# --- classic protocol -----------------------------------------------------------------------------


def _client(client: Mapping[str, Any]) -> Participant:
    names = consumer_names(client)
    settings = {key: client[key] for key in _SETTINGS if client[key]}
    instance = static_instance(client)
    if instance is not None:
        settings["instance_id"] = instance
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
        {"threads": max(1, client["threads"]), **settings},
        threads,
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
        settings: dict[str, Any] = {key: first[key] for key in ("rack", "tags") if first[key]}
        ids = [member["id"] for member in of]
        settings = {"threads": len(of), **settings, "member_ids": ids}
        names = {member["id"]: client_ids.get(member["id"]) or member.get("client_id") or "" for member in of}
        client_id = _client_id(names.values())
        threads = {thread_of(names[name], name): name for name in ids}
        instance = instance_id_of((member["instance_id"], thread_of(names[member["id"]], "1")) for member in of)
        if instance is not None:
            settings["instance_id"] = instance
        found.append(Participant(process, client_id, frozenset(ids), settings, threads))
    return found


def _placed(document: Mapping[str, Any]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    held: dict[str, tuple[list[str], list[str]]] = {each["process_id"]: ([], []) for each in document["members"]}
    process_of = {each["id"]: each["process_id"] for each in document["members"]}
    for member, target in document["observed"]["members"].items():
        if member in process_of:
            active, copies = held[process_of[member]]
            active += _named(target["active"])
            copies += [*_named(target["standby"]), *_named(target["warmup"])]
    return {process: _sorted(active, copies) for process, (active, copies) in held.items()}


def _named(tasks: Mapping[str, Iterable[int]]) -> list[str]:
    return [f"{subtopology}_{number}" for subtopology, numbers in tasks.items() for number in numbers]


def _sorted(active: Iterable[str], copies: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return _in_order(active), _in_order(copies)


def _in_order(tasks: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(tasks), key=lambda task: TaskId.parse(task).sort_key()))
