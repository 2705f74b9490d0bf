"""A decision of a recorded group, whatever its protocol: when, who took part, and what each instance was given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignment_api.streams import TaskId
from assignor_lab.capture.histories.evidence import Evidence, evidence_of

__all__ = ["CLASSIC", "STREAMS", "Moment", "Participant", "client_of", "moment_of", "protocol_of"]

#: Protocols of a Streams group.
CLASSIC, STREAMS = "classic", "streams"
_STREAM_THREAD = "-StreamThread-"
#: Settings of an instance that a scenario's client has, and what a ``start`` event calls them.
_SETTINGS = ("rack", "tags", "host")


@attrs.frozen
class Participant:
    """An instance that takes part in a decision.

    Args:
        process_id: Its process id.
        client_id: What its members' names begin with, or ``None``: they have none.
        members: Ids of its members, which a new process has new ones of.
        settings: What a ``start`` event says of it.
        threads: Thread to its member id. Threads are called by their numbers, or by their member ids if the source has
            no names.
    """

    process_id: str
    client_id: str | None
    members: frozenset[str]
    settings: Mapping[str, Any]
    threads: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class Moment:
    """A decision.

    Args:
        time_ms: When, in epoch milliseconds.
        prepared_ms: When the rebalance began, or ``None``: the source does not tell.
        generation: Generation or epoch, or ``None``.
        reason: Why the group rebalanced; empty if the source does not tell.
        followup: ``none`` or ``probing``.
        participants: Who took part, by process id.
        placed: Process id to its active tasks and its copies.
        document: The scenario that it was read from.
        evidence: What it shows of causes.
    """

    time_ms: int
    prepared_ms: int | None
    generation: int | None
    reason: str
    followup: str
    participants: Mapping[str, Participant]
    placed: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    document: Mapping[str, Any]
    evidence: Evidence = Evidence()  # noqa: RUF009


def protocol_of(document: Mapping[str, Any]) -> str | None:
    """The protocol of the group in a scenario; ``None``: it is no decision of a Streams group.

    Clients are what the leader of a classic group has before it, sub-topologies what a broker has.
    """
    if "clients" in document:
        return CLASSIC
    return STREAMS if "subtopologies" in document else None


def moment_of(document: Mapping[str, Any]) -> Moment:
    """The decision that a checked scenario of kind ``streams`` or ``streams-group`` holds; it has a time."""
    source, observed = document["source"], document["observed"]
    if protocol_of(document) == CLASSIC:
        participants = [_client(client) for client in document["clients"]]
        placed = {name: _sorted(held["active"], held["standby"]) for name, held in observed["assignment"].items()}
    else:
        participants = _processes(document["members"], source.get("client_ids", {}))
        placed = _placed(document)
    return Moment(
        source["time_ms"],
        source.get("prepared_ms"),
        source.get("generation"),
        source.get("reason", ""),
        "probing" if observed.get("followup") else "none",
        {each.process_id: each for each in participants},
        placed,
        document,
        evidence_of(document, placed),
    )


# --- classic protocol -----------------------------------------------------------------------------


def _client(client: Mapping[str, Any]) -> Participant:
    consumers = client["consumers"]
    settings = {key: client[key] for key in _SETTINGS if client[key]}
    return Participant(
        client["process_id"],
        _client_id(consumers),
        frozenset(consumers),
        {"threads": max(1, client["threads"]), **settings},
        {_thread_of(name): name for name in consumers},
    )


def _thread_of(consumer: str, otherwise: str = "") -> str:
    """The number of a consumer's thread; its name, or ``otherwise``, if it has none."""
    number = consumer.partition(_STREAM_THREAD)[2].partition("-")[0]
    return number if number.isascii() and number.isdigit() else otherwise or consumer


def client_of(consumer: str) -> str:
    """What the name of a consumer begins with: ``client.id``, or the application's and the process's id."""
    return consumer.partition(_STREAM_THREAD)[0]


def _client_id(consumers: Iterable[str]) -> str | None:
    """What the names of all consumers begin with."""
    found = {client_of(name) for name in consumers if _STREAM_THREAD in name}
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
        client_id = _client_id(client_ids[name] for name in ids if name in client_ids)
        threads = {_thread_of(client_ids.get(name, ""), name): name for name in ids}
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
