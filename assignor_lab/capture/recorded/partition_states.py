"""Recorded decisions about partitions as values: of plain consumers, and of share groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from assignor_lab.documents.errors import Place

__all__ = [
    "CLASSIC", "CONSUMER", "SHARE", "NotedEvent", "PartitionDecision", "PartitionMember", "noted_events",
    "partition_decision", "partition_protocol",
]  # fmt: skip

#: Protocols of such decisions.
CLASSIC, CONSUMER, SHARE = "classic", "consumer", "share"


@attrs.frozen
class PartitionMember:
    """A member, and the names of its partitions after the decision."""

    id: str
    client_id: str | None
    instance_id: str | None
    partitions: tuple[str, ...]


@attrs.frozen
class NotedEvent:
    """An event that a state notes with its decision, such as ``gone`` or ``rejoined``.

    Args:
        client: Client id of the instance.
        tasks: Of ``corrupt``.
    """

    time_ms: int
    type: str
    client: str
    tasks: tuple[str, ...] = ()


def noted_events(source: Mapping[str, Any]) -> tuple[NotedEvent, ...]:
    """Of a state's ``source``, as written."""
    return tuple(
        NotedEvent(each["time_ms"], each["type"], each["client"], tuple(each.get("tasks", ())))
        for each in source.get("done", ())
    )


@attrs.frozen
class PartitionDecision:
    """A decision.

    Args:
        number: Generation or epoch; ``None``: unknown.
        partitions: Names of all partitions of the input.
        assignor: Empty if unknown.
    """

    time_ms: int
    place: Place
    protocol: str
    number: int | None
    members: tuple[PartitionMember, ...]
    partitions: frozenset[str]
    assignor: str = ""
    reason: str = ""
    events: tuple[NotedEvent, ...] = ()
    group: str = ""


def partition_decision(document: Mapping[str, Any]) -> PartitionDecision | None:
    """The decision of a checked scenario; ``None`` if it is about something else, or has no decision or time."""
    source, observed = document.get("source") or {}, document.get("observed")
    protocol = partition_protocol(document)
    if protocol is None or observed is None or "time_ms" not in source:
        return None
    names = {topic.get("id", topic["name"]): topic["name"] for topic in document["topics"]}
    return PartitionDecision(
        source["time_ms"],
        Place(source.get("file", "-"), source.get("line")),
        protocol,
        source.get("generation"),
        tuple(
            PartitionMember(
                member["id"],
                member["client_id"],
                member["instance_id"],
                tuple(_named(observed["members"].get(member["id"], {}), names)),
            )
            for member in document["members"]
        ),
        frozenset(_every_partition(document)),
        str(source.get("assignor") or observed.get("assignor") or ""),
        source.get("reason", ""),
        noted_events(source),
        source.get("group") or document["id"],
    )


def partition_protocol(document: Mapping[str, Any]) -> str | None:
    """``None`` if the state is about something else.

    Topics of a broker's input have ids, and members of a share group have no expressions.
    """
    if "topics" not in document or "members" not in document:
        return None
    if not any("id" in topic for topic in document["topics"]):
        return CLASSIC
    return CONSUMER if any("regex" in member for member in document["members"]) else SHARE


def _named(held: Mapping[str, list[int]], names: Mapping[str, str]) -> Iterator[str]:
    for topic in sorted(held, key=lambda key: names.get(key, key)):
        yield from (f"{names.get(topic, topic)}-{number}" for number in sorted(set(held[topic])))


def _every_partition(document: Mapping[str, Any]) -> Iterator[str]:
    for topic in document["topics"]:
        yield from (f"{topic['name']}-{number}" for number in range(topic["partitions"] or 0))
