"""Documents of kinds ``consumer``, ``consumer-group`` and ``share-group``: their shape, and their values of the SPI.

As for ``streams``: documents outside the format are refused here. States that occur in reality pass, such as unknown
topics, topics that a member lists twice, and claims on partitions that do not exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assignment_api.consumer import (
    ConsumerGroupState,
    ConsumerSubscription,
    ConsumerTopic,
    SubscribedGroup,
    SubscribedMember,
    SubscribedTopic,
    topic_id_halves,
)
from assignment_api.errors import IllegalAssignmentArgumentError
from assignor_lab.documents.errors import printable
from assignor_lab.documents.shapes import (
    INT_MAX,
    LONG_MAX,
    Check,
    Mismatch,
    count,
    hexadecimal,
    list_of,
    map_of,
    nullable,
    number,
    one_of,
    record,
    text,
    whole,
)
from assignor_lab.scenarios.settings import check_settings

__all__ = ["MAX_PARTITIONS", "read_consumer", "read_consumer_group", "read_share_group", "ran_of", "strategies_of"]

#: Most partitions of one scenario: a document has only their number, so a short line could request billions.
MAX_PARTITIONS = 1_000_000

_int = whole(-(2**31), INT_MAX)
_partitions = map_of(text, list_of(_int))
_members = map_of(text, _partitions)


def _topic_id(value: Any) -> str:
    try:
        topic_id_halves(text(value))
    except IllegalAssignmentArgumentError as error:
        raise Mismatch(str(error)) from None
    return str(value)


_by_id = map_of(_topic_id, list_of(_int))

_weights = record({}, {"input_bytes_per_s": number, "lag": whole(0, LONG_MAX)})
_done = record({"time_ms": whole(0, LONG_MAX), "type": one_of("gone", "rejoined"), "client": text})
_OPTIONAL: Mapping[str, Check[Any]] = {
    "settings": check_settings,
    "workload": record({}, {"partitions": map_of(text, map_of(text, _weights))}),
    "observed": record({"members": _members}, {"assignor": text}),
    "source": record(
        {},
        {
            "file": text,
            "line": count,
            "time_ms": whole(0, LONG_MAX),
            "group": text,
            "generation": count,
            "reason": text,
            "assignor": text,
            "done": list_of(_done),
        },
    ),
    "assumptions": list_of(text),
}


def _document(
    kind: str, topic: Check[Any], member: Check[Any], optional: Mapping[str, Check[Any]]
) -> Check[dict[str, Any]]:
    return record(
        {
            "format": whole(1, 1),
            "kind": one_of(kind),
            "id": text,
            "topics": list_of(topic),
            "members": list_of(member),
        },
        {**_OPTIONAL, **optional},
    )


_COMMON_MEMBER: Mapping[str, Check[Any]] = {
    "id": text,
    "client_id": nullable(text),
    "instance_id": nullable(text),
    "rack": nullable(text),
    "topics": list_of(text),
}

# --- client side ----------------------------------------------------------------------------------

_consumer_topic = record({"name": text, "partitions": count, "racks": nullable(list_of(list_of(nullable(text))))})
_consumer_document = _document(
    "consumer",
    _consumer_topic,
    record(
        {
            **_COMMON_MEMBER,
            "owned": _partitions,
            "generation": nullable(_int),
            "user_data": nullable(hexadecimal),
        },
        {"strategies": list_of(text), "ran": _partitions},
    ),
    {"max_generation": nullable(_int)},
)


def read_consumer(document: Mapping[str, Any]) -> ConsumerGroupState:
    """Checks a document of kind ``consumer``, and returns the leader's input.

    Raises:
        Mismatch: if it is not in the format.
    """
    content = _consumer_document(document)
    topics: dict[str, ConsumerTopic] = {}
    for index, topic in enumerate(content["topics"]):
        name, partitions, racks = topic["name"], topic["partitions"], topic["racks"]
        _refuse_known(topics, name, "topic", "topics", index, "name")
        if racks is not None and len(racks) != partitions:
            raise Mismatch(
                f"{len(racks)} entries for {partitions} partitions: give the racks of each partition, or null",
                *("topics", index, "racks"),
            )
        topics[name] = ConsumerTopic(name, partitions, None if racks is None else tuple(map(tuple, racks)))
    _refuse_too_many([topic.partitions for topic in topics.values()])
    members: dict[str, ConsumerSubscription] = {}
    #: Members with equal lists share one.
    lists: dict[tuple[str, ...], tuple[str, ...]] = {}
    for index, member in enumerate(content["members"]):
        _refuse_known(members, member["id"], "member", "members", index, "id")
        listed: tuple[str, ...] = tuple(member["topics"])
        members[member["id"]] = ConsumerSubscription(
            lists.setdefault(listed, listed),
            member["owned"],
            member["generation"],
            member["user_data"],
            member["rack"],
            member["instance_id"],
        )
    return ConsumerGroupState(topics, members, content.get("max_generation"))


def strategies_of(document: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Member to its ``partition.assignment.strategy``; empty if a member has none."""
    found = {member["id"]: tuple(member.get("strategies") or ()) for member in document["members"]}
    return found if all("strategies" in member for member in document["members"]) else {}


def ran_of(document: Mapping[str, Any]) -> dict[str, Mapping[str, tuple[int, ...]]]:
    """Member to the partitions that it ran, as far as its state has them beside its own report."""
    return {member["id"]: member["ran"] for member in document["members"] if "ran" in member}


# --- broker side ----------------------------------------------------------------------------------

_broker_topic = record({"id": _topic_id, "name": text, "partitions": nullable(count)})
_assigned = {"assigned": _by_id}
_consumer_group_document = _document(
    "consumer-group",
    _broker_topic,
    record({**_COMMON_MEMBER, "regex": nullable(text), **_assigned}),
    {"regexes": map_of(text, list_of(text))},
)
_share_group_document = _document(
    "share-group", _broker_topic, record({**_COMMON_MEMBER, **_assigned}), {"assignable": nullable(_by_id)}
)


def read_consumer_group(document: Mapping[str, Any]) -> SubscribedGroup:
    """Checks a document of kind ``consumer-group``, and returns the coordinator's input.

    Raises:
        Mismatch: if it is not in the format.
    """
    return _subscribed(_consumer_group_document(document))


def read_share_group(document: Mapping[str, Any]) -> SubscribedGroup:
    """The same for kind ``share-group``."""
    return _subscribed(_share_group_document(document))


def _subscribed(content: Mapping[str, Any]) -> SubscribedGroup:
    topics: dict[str, SubscribedTopic] = {}
    names: dict[str, None] = {}
    for index, topic in enumerate(content["topics"]):
        _refuse_known(topics, topic["id"], "topic", "topics", index, "id")
        _refuse_known(names, topic["name"], "topic", "topics", index, "name")
        names[topic["name"]] = None
        topics[topic["id"]] = SubscribedTopic(topic["id"], topic["name"], topic["partitions"])
    _refuse_too_many([topic.partitions or 0 for topic in topics.values()])
    members: dict[str, SubscribedMember] = {}
    for index, member in enumerate(content["members"]):
        _refuse_known(members, member["id"], "member", "members", index, "id")
        members[member["id"]] = SubscribedMember(
            member["topics"], member.get("regex"), member["instance_id"], member["rack"], member["assigned"]
        )
    return SubscribedGroup(topics, members, content.get("regexes", {}), content.get("assignable"))


def _refuse_known(known: Mapping[str, object], name: str, noun: str, *steps: str | int) -> None:
    if name in known:
        raise Mismatch(f"{noun} {printable(name)} occurs twice: remove one of the two", *steps)


def _refuse_too_many(sizes: Sequence[int]) -> None:
    partitions = 0
    for index, size in enumerate(sizes):
        partitions += size
        if partitions > MAX_PARTITIONS:
            raise Mismatch(
                f"more than {MAX_PARTITIONS:,} partitions in all: this is the limit of one scenario",
                *("topics", index, "partitions"),
            )
