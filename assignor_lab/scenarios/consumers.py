"""Consumers of an instance: their names, their threads, and ``group.instance.id``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from assignor_lab.documents.wording import natural_order

__all__ = [
    "client_of",
    "consumer_names",
    "hosts_of",
    "instance_id_of",
    "static_instance",
    "static_members_of",
    "thread_of",
]

_STREAM_THREAD = "-StreamThread-"


#: A static member's id: ``group.instance.id`` of the thread, and a UUID (Kafka: ``GenericGroup.generateMemberId``).
_STATIC_END = re.compile(r"-[0-9]{1,6}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)
#: Characters of the UUID and the hyphen before it, and the longest instance id without its number.
_UUID, _MOST = 37, 400


def client_of(consumer: str) -> str:
    """The start of a consumer's name: ``client.id``, or the application's and the process's id."""
    return consumer.partition(_STREAM_THREAD)[0]


def thread_of(consumer: str, otherwise: str = "") -> str:
    """The number of a consumer's thread; its name, or ``otherwise``, if it has none."""
    number = consumer.partition(_STREAM_THREAD)[2].partition("-")[0]
    return number if number.isascii() and number.isdigit() else otherwise or consumer


def consumer_names(client: Mapping[str, Any]) -> dict[str, str]:
    """Member id to the client id of the consumer; if that is unknown, to the member id, which begins with it."""
    known = client.get("members", {})
    return {member: known.get(member, {}).get("client_id") or member for member in client["consumers"]}


def static_instance(client: Mapping[str, Any]) -> str | None:
    """``group.instance.id`` of a client of kind ``streams``; ``None``: its members are dynamic or unknown."""
    return instance_id_of(
        (each["instance_id"], thread_of(each["client_id"] or "", (each["instance_id"] or "").rpartition("-")[2]))
        for each in client.get("members", {}).values()
    )


def static_members_of(consumers: Iterable[str]) -> dict[str, dict[str, str | None]]:
    """Member id to ``client_id`` and ``instance_id`` of static members, as their ids show it; others are left out.

    A dynamic member's id begins with the consumer's client id, which Kafka Streams makes of the thread's name.
    """
    found = [name for name in consumers if _STREAM_THREAD not in name and _is_static(name)]
    return {name: {"client_id": None, "instance_id": name[:-_UUID]} for name in found}


def _is_static(member: str) -> bool:
    stem, _, _ = member[:-_UUID].rpartition("-")
    return 0 < len(stem) <= _MOST and _STATIC_END.fullmatch(member[len(stem) :]) is not None


def instance_id_of(members: Iterable[tuple[str | None, str]]) -> str | None:
    """``group.instance.id`` of an instance; ``None``: at least one member is dynamic, or there is none.

    Kafka Streams appends the number of the thread to the id of each member. If the ids differ in more than that, as
    behind a pseudonym, the id of the first thread names the instance.
    """
    found = sorted(members, key=lambda each: natural_order(each[1]))
    ids = [instance for instance, _ in found if instance is not None]
    if not found or len(ids) < len(found):
        return None
    stems = {instance.removesuffix(f"-{thread}") for instance, thread in found if instance is not None}
    return stems.pop() if len(stems) == 1 else ids[0]


def hosts_of(hosts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """``hosts`` of a scenario's ``source``: those of members; none if all are on one machine."""
    return {"hosts": dict(hosts)} if len({*hosts.values()} - {""}) > 1 else {}
