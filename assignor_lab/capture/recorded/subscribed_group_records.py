"""Values of the records of consumer groups (KIP-848) and share groups (KIP-932) in ``__consumer_offsets``.

Needs the extra ``kafka``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignor_lab.capture.recorded.errors import readable
from assignor_lab.capture.recorded.group_records import (
    CONSUMER_METADATA,
    CONSUMER_REGEX,
    SHARE_MEMBER,
    SHARE_METADATA,
    SHARE_TOPICS,
    decoded_record,
)
from assignor_lab.capture.recorded.topic_ids import topic_id_text

__all__ = [
    "HeldPartitions",
    "RecordedTopic",
    "SubscriberRecord",
    "read_expression",
    "read_group_epoch",
    "read_held",
    "read_initialized",
    "read_subscriber",
    "read_target_time",
    "read_topics",
]

#: Topic id to partitions, in the order of the record, which counts.
HeldPartitions = Mapping[str, tuple[int, ...]]


@attrs.frozen
class SubscriberRecord:
    """A member.

    Args:
        topics: Names, in the order of the record.
        regex: ``None`` without an expression.
        assignor: That it wants; ``None``: any.
        rebalance_timeout_ms: ``None`` in share groups.
    """

    client_id: str
    host: str
    instance_id: str | None
    rack: str | None
    topics: tuple[str, ...]
    regex: str | None = None
    assignor: str | None = None
    rebalance_timeout_ms: int | None = None


@attrs.frozen
class RecordedTopic:
    """A topic with the number of partitions that the coordinator knows."""

    id: str
    name: str
    partitions: int


def read_subscriber(kind: int, group: str, data: bytes) -> SubscriberRecord:
    """The value of type 5 or 10."""
    subject = f"member of group {group}"
    message, _ = decoded_record(kind, data, subject)
    with readable(subject):
        topics = tuple(map(str, message.subscribed_topic_names))
        client, host, rack = str(message.client_id), str(message.client_host), message.rack_id or None
        if kind == SHARE_MEMBER:
            return SubscriberRecord(client, host, None, rack, topics)
        return SubscriberRecord(
            client,
            host,
            message.instance_id or None,
            rack,
            topics,
            message.subscribed_topic_regex or None,
            message.server_assignor or None,
            int(message.rebalance_timeout_ms),
        )


def read_group_epoch(kind: int, group: str, data: bytes) -> int:
    """The value of type 3 or 11."""
    assert kind in (CONSUMER_METADATA, SHARE_METADATA)
    return int(decoded_record(kind, data, f"epoch of group {group}")[0].epoch)


def read_target_time(kind: int, group: str, data: bytes) -> tuple[int, int | None]:
    """The value of type 6 or 12: the target's epoch, and its time; ``None``: the brokers do not write it."""
    message, _ = decoded_record(kind, data, f"target of group {group}")
    at = int(getattr(message, "assignment_timestamp", 0) or 0)
    return int(message.assignment_epoch), at if at > 0 else None


def read_held(kind: int, group: str, data: bytes) -> HeldPartitions:
    """The value of type 7 or 13, a target, or of type 8 or 14, the present partitions without those to revoke."""
    subject = f"partitions of a member of group {group}"
    message, _ = decoded_record(kind, data, subject)
    with readable(subject):
        has_target = hasattr(message, "topic_partitions")
        return _held(message.topic_partitions if has_target else message.assigned_partitions)


def read_expression(group: str, data: bytes) -> tuple[str, ...]:
    """The value of type 16: the topics of a regular expression."""
    return tuple(map(str, decoded_record(CONSUMER_REGEX, data, f"expression of group {group}")[0].topics))


def read_topics(kind: int, group: str, data: bytes) -> tuple[RecordedTopic, ...]:
    """The value of type 4 (brokers before 4.1) or 15: topics with their ids."""
    subject = f"topics of group {group}"
    message, _ = decoded_record(kind, data, subject)
    with readable(subject):
        if kind == SHARE_TOPICS:
            listed = (*message.initializing_topics, *message.initialized_topics)
            found: dict[str, RecordedTopic] = {}
            for each in listed:
                made = _shared(each)
                known = found.get(made.id)
                if known is None or known.partitions < made.partitions:
                    found[made.id] = made
            return tuple(found.values())
        return tuple(
            RecordedTopic(topic_id_text(each.topic_id), str(each.topic_name), int(each.num_partitions))
            for each in message.topics
        )


def read_initialized(group: str, data: bytes) -> HeldPartitions:
    """The value of type 15: partitions that the members of a share group may be given."""
    subject = f"topics of group {group}"
    message, _ = decoded_record(SHARE_TOPICS, data, subject)
    with readable(subject):
        return _held(message.initialized_topics)


def _shared(topic: Any) -> RecordedTopic:
    numbers = [int(number) for number in topic.partitions]
    return RecordedTopic(topic_id_text(topic.topic_id), str(topic.topic_name), max(numbers, default=-1) + 1)


def _held(listed: Iterable[Any]) -> dict[str, tuple[int, ...]]:
    return {topic_id_text(each.topic_id): tuple(int(number) for number in each.partitions) for each in listed}
