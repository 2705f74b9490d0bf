"""JSON forms of the messages of plain consumers, as in the golden wire vectors; lists keep the order of the bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignor_lab.documents.shapes import (
    INT_MAX,
    Check,
    Mismatch,
    described,
    hexadecimal,
    list_of,
    nullable,
    record,
    text,
    whole,
)
from assignor_lab.kafka.wire.consumer.messages import (
    ConsumerAssignmentMessage,
    ConsumerSubscriptionMessage,
    TopicPartitions,
)
from assignor_lab.kafka.wire.consumer.user_data import StickyUserData

__all__ = [
    "check_consumer_assignment",
    "check_consumer_subscription",
    "check_cooperative_user_data",
    "check_sticky_user_data",
    "consumer_assignment_document",
    "consumer_assignment_of_document",
    "consumer_subscription_document",
    "consumer_subscription_of_document",
    "sticky_user_data_document",
    "sticky_user_data_of_document",
]

Document = dict[str, Any]


def consumer_subscription_document(message: ConsumerSubscriptionMessage) -> Document:
    return {
        "version": message.version,
        "topics": list(message.topics),
        "user_data": None if message.user_data is None else message.user_data.hex(),
        "owned": _pairs(message.owned),
        "generation": message.generation,
        "rack": message.rack,
    }


def consumer_subscription_of_document(document: Mapping[str, Any]) -> ConsumerSubscriptionMessage:
    return ConsumerSubscriptionMessage(
        document["version"],
        tuple(document["topics"]),
        document["user_data"],
        tuple(document["owned"]),
        document["generation"],
        document["rack"],
    )


def consumer_assignment_document(message: ConsumerAssignmentMessage) -> Document:
    return {
        "version": message.version,
        "partitions": _pairs(message.partitions),
        "user_data": None if message.user_data is None else message.user_data.hex(),
    }


def consumer_assignment_of_document(document: Mapping[str, Any]) -> ConsumerAssignmentMessage:
    return ConsumerAssignmentMessage(document["version"], tuple(document["partitions"]), document["user_data"])


def sticky_user_data_document(user_data: StickyUserData) -> Document:
    return {
        "version": user_data.version,
        "partitions": _pairs(user_data.partitions),
        "generation": user_data.generation,
    }


def sticky_user_data_of_document(document: Mapping[str, Any]) -> StickyUserData:
    return StickyUserData(tuple(document["partitions"]), document["generation"], document["version"])


def _pairs(partitions: TopicPartitions) -> list[list[Any]]:
    return [[topic, partition] for topic, partition in partitions]


# --- shapes ---------------------------------------------------------------------------------------

_INT = whole(-(2**31), INT_MAX)


def _pair(value: Any) -> tuple[str, int]:
    if type(value) is not list or len(value) != 2:
        raise Mismatch(f"expected a topic and a partition, found {described(value)}")
    return text(value[0]), _INT(value[1])


_VERSION = whole(0, 3)
_PARTITIONS = list_of(_pair)

check_consumer_subscription: Check[Document] = record(
    {
        "version": _VERSION,
        "topics": list_of(text),
        "user_data": nullable(hexadecimal),
        "owned": _PARTITIONS,
        "generation": nullable(_INT),
        "rack": nullable(text),
    }
)
check_consumer_assignment: Check[Document] = record(
    {"version": _VERSION, "partitions": _PARTITIONS, "user_data": nullable(hexadecimal)}
)
check_sticky_user_data: Check[Document] = record(
    {"version": nullable(whole(0, 1)), "partitions": _PARTITIONS, "generation": nullable(_INT)}
)
check_cooperative_user_data: Check[Document] = record({"version": nullable(whole(0, 0)), "generation": _INT})
