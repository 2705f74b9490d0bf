"""Coordinators' records with pseudonyms in place of names: same layouts, other texts."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignment_api.connect import ConnectorTaskId, StaticJobs
from assignment_api.streams import HostInfo
from assignor_lab.capture.recorded.errors import BrokerAnswerError, readable
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.capture.recorded.group_records import (
    CONSUMER_MEMBER,
    CONSUMER_REGEX,
    CONSUMER_TOPICS,
    CONSUMERS,
    GROUP_METADATA,
    SHARE_MEMBER,
    SHARE_TOPICS,
    STREAMS_MEMBER,
    STREAMS_METADATA,
    STREAMS_TOPOLOGY,
    decoded_record,
    read_group_key,
)
from assignor_lab.kafka.wire import (
    STREAMS_ASSIGNOR,
    WireError,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from assignor_lab.kafka.wire.connect import (
    PROTOCOL_TYPE,
    AssignmentMessage,
    decode_connect_assignment,
    decode_connect_subscription,
    encode_connect_assignment,
    encode_connect_subscription,
)
from assignor_lab.kafka.wire.consumer import (
    decode_consumer_assignment,
    decode_consumer_subscription,
    decode_sticky_user_data,
    encode_consumer_assignment,
    encode_consumer_subscription,
    encode_sticky_user_data,
)
from assignor_lab.scenarios.anonymous.names import Pseudonyms

__all__ = ["anonymous_record"]

#: User data of the cooperative strategy.
_GENERATION_BYTES = 4

#: Other settings may hold names.
_NUMBERS = ("num.standby.replicas", "num.warmup.replicas", "acceptable.recovery.lag", "task.offset.interval.ms")


def anonymous_record(record: GroupRecord, names: Pseudonyms) -> GroupRecord:
    """A record with pseudonyms, in its original version.

    Of other software's groups the members' bytes are left out. Unreadable bytes may contain names: they are an error.
    """
    key = read_group_key(record.key)
    if key is None:
        raise BrokerAnswerError("record", "is none about a group")
    value = record.value
    if value is not None:
        # Fields of later versions are dropped, too.
        value = _value(key.type, key.group, value, names)
    member = key.member
    if member is not None:
        # An expression may hold any name, and a pseudonym stands for it.
        member = names.store(member) if key.type == CONSUMER_REGEX else names.member(member)
    texts = [names.group(key.group), *([] if member is None else [member])]
    return attrs.evolve(record, key=_key(key.type, texts), value=value)


def _key(kind: int, texts: Iterable[str]) -> bytes:
    encoded = [text.encode() for text in texts]
    return struct.pack(">h", kind) + b"".join(struct.pack(">h", len(text)) + text for text in encoded)


def _value(kind: int, group: str, value: bytes, names: Pseudonyms) -> bytes:
    subject = f"record of group {group}"
    message, version = decoded_record(kind, value, subject)
    try:
        with readable(subject):
            if kind == GROUP_METADATA:
                _generation(message, group, names)
            elif kind == STREAMS_MEMBER:
                _member(message, names)
            elif kind == STREAMS_TOPOLOGY:
                _topology(message, group, names)
            elif kind == STREAMS_METADATA:
                _config(message, names)
            elif kind in (CONSUMER_MEMBER, SHARE_MEMBER):
                _subscriber(message, group, names)
            elif kind == CONSUMER_REGEX:
                message.topics = [names.topic(topic, group) for topic in message.topics]
            elif kind in (CONSUMER_TOPICS, SHARE_TOPICS):
                _topics(message, group, names)
            return bytes(message.encode(version=version))
    except WireError as error:
        raise BrokerAnswerError(subject, f"a member's part cannot be written with pseudonyms ({error})") from error


# --- classic protocol -----------------------------------------------------------------------------------


def _generation(message: Any, group: str, names: Pseudonyms) -> None:
    if message.leader:
        message.leader = names.member(message.leader)
    for member in message.members:
        member.member_id = names.member(member.member_id)
        if getattr(member, "group_instance_id", None):
            member.group_instance_id = names.client(member.group_instance_id)
        member.client_id = names.client(member.client_id)
        member.client_host = names.end_point(member.client_host)
        subscription, assignment = bytes(member.subscription or b""), bytes(member.assignment or b"")
        if message.protocol_type == PROTOCOL_TYPE:
            member.subscription = _connect_subscription(subscription, names)
            member.assignment = _connect_assignment(assignment, names)
        elif message.protocol == STREAMS_ASSIGNOR:
            member.subscription = _subscription(subscription, group, names)
            member.assignment = _assignment(assignment, group, names)
        elif message.protocol_type == CONSUMERS:
            member.subscription = _consumer_subscription(subscription, group, names)
            member.assignment = _consumer_assignment(assignment, group, names)
        else:
            member.subscription = member.assignment = b""


def _subscription(data: bytes, group: str, names: Pseudonyms) -> bytes:
    from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

    if not data:
        return data
    message = ConsumerProtocolSubscription.decode(data)
    (version,) = struct.unpack_from(">h", data)
    message.topics = [names.topic(topic, group) for topic in message.topics]
    for each in getattr(message, "owned_partitions", None) or ():
        each.topic = names.topic(each.topic, group)
    if getattr(message, "rack_id", None):
        message.rack_id = names.rack(message.rack_id)
    if message.user_data:
        info = decode_subscription(bytes(message.user_data))
        tags = {names.tag(tag): names.tag_value(value) for tag, value in info.client_tags.items()}
        end_point = info.user_end_point and names.end_point(info.user_end_point)
        message.user_data = encode_subscription(attrs.evolve(info, client_tags=tags, user_end_point=end_point))
    return _encoded(message, version)


def _assignment(data: bytes, group: str, names: Pseudonyms) -> bytes:
    from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

    if not data:
        return data
    message = ConsumerProtocolAssignment.decode(data)
    (version,) = struct.unpack_from(">h", data)
    for each in message.assigned_partitions:
        each.topic = names.topic(each.topic, group)
    if message.user_data:

        def partitions(of: Iterable[tuple[str | None, int]]) -> tuple[tuple[str | None, int], ...]:
            return tuple((topic and names.topic(topic, group), number) for topic, number in of)

        def hosts(of: Mapping[HostInfo, Iterable[tuple[str | None, int]]]) -> dict[HostInfo, Any]:
            return {HostInfo(names.end_point(host.host), host.port): partitions(each) for host, each in of.items()}

        info = decode_assignment(bytes(message.user_data))
        message.user_data = encode_assignment(
            attrs.evolve(
                info,
                standby_tasks={task: partitions(of) for task, of in info.standby_tasks.items()},
                partitions_by_host=hosts(info.partitions_by_host),
                standby_partitions_by_host=hosts(info.standby_partitions_by_host),
            )
        )
    return _encoded(message, version)


def _encoded(message: Any, version: int) -> bytes:
    return bytes(message.encode(version=version))


# --- plain consumers ------------------------------------------------------------------------------------


def _consumer_subscription(data: bytes, group: str, names: Pseudonyms) -> bytes:
    """Bytes of Kafka's own order with pseudonyms. User data of unknown strategies may hold names: they are left out."""
    if not data:
        return data
    message = decode_consumer_subscription(data)
    sticky = decode_sticky_user_data(message.user_data)
    user_data = message.user_data
    if sticky.version is not None:
        partitions = tuple((names.topic(topic, group), number) for topic, number in sticky.partitions)
        user_data = encode_sticky_user_data(attrs.evolve(sticky, partitions=partitions))
    elif user_data is not None and len(user_data) > _GENERATION_BYTES:
        user_data = None
    return encode_consumer_subscription(
        attrs.evolve(
            message,
            topics=tuple(names.topic(topic, group) for topic in message.topics),
            user_data=user_data,
            owned=tuple((names.topic(topic, group), number) for topic, number in message.owned),
            rack=message.rack and names.rack(message.rack),
        )
    )


def _consumer_assignment(data: bytes, group: str, names: Pseudonyms) -> bytes:
    if not data:
        return data
    message = decode_consumer_assignment(data)
    partitions = tuple((names.topic(topic, group), number) for topic, number in message.partitions)
    return encode_consumer_assignment(attrs.evolve(message, partitions=partitions, user_data=None))


def _subscriber(message: Any, group: str, names: Pseudonyms) -> None:
    if getattr(message, "instance_id", None):
        message.instance_id = names.client(message.instance_id)
    if message.rack_id:
        message.rack_id = names.rack(message.rack_id)
    message.client_id = names.client(message.client_id)
    message.client_host = names.end_point(message.client_host)
    message.subscribed_topic_names = [names.topic(topic, group) for topic in message.subscribed_topic_names]
    if getattr(message, "subscribed_topic_regex", None):
        message.subscribed_topic_regex = names.store(message.subscribed_topic_regex)


def _topics(message: Any, group: str, names: Pseudonyms) -> None:
    for field in ("topics", "initializing_topics", "initialized_topics", "deleting_topics"):
        for each in getattr(message, field, ()):
            each.topic_name = names.topic(each.topic_name, group)


# --- Connect --------------------------------------------------------------------------------------------


def _connect_subscription(data: bytes, names: Pseudonyms) -> bytes:
    if not data:
        return data
    message = decode_connect_subscription(data)
    static = message.static
    if static is not None:
        connectors = None if static.connectors is None else [names.connector(name) for name in static.connectors]
        static = StaticJobs(connectors, None if static.tasks is None else _tasks(static.tasks, names))
    assignment = None if message.assignment is None else _connect_jobs(message.assignment, names)
    url = names.end_point(message.url)
    return encode_connect_subscription(attrs.evolve(message, url=url, assignment=assignment, static=static))


def _connect_assignment(data: bytes, names: Pseudonyms) -> bytes:
    return encode_connect_assignment(_connect_jobs(decode_connect_assignment(data), names)) if data else data


def _connect_jobs(message: AssignmentMessage, names: Pseudonyms) -> AssignmentMessage:
    return attrs.evolve(
        message,
        leader=names.member(message.leader),
        leader_url=names.end_point(message.leader_url),
        connectors=tuple(map(names.connector, message.connectors)),
        tasks=_tasks(message.tasks, names),
        revoked_connectors=tuple(map(names.connector, message.revoked_connectors)),
        revoked_tasks=_tasks(message.revoked_tasks, names),
    )


def _tasks(tasks: Iterable[ConnectorTaskId], names: Pseudonyms) -> tuple[ConnectorTaskId, ...]:
    return tuple(ConnectorTaskId(names.connector(each.connector), each.task) for each in tasks)


# --- streams protocol -----------------------------------------------------------------------------------


def _member(message: Any, names: Pseudonyms) -> None:
    if message.instance_id:
        message.instance_id = names.client(message.instance_id)
    if message.rack_id:
        message.rack_id = names.rack(message.rack_id)
    message.client_id = names.client(message.client_id)
    message.client_host = names.end_point(message.client_host)
    if message.process_id:
        message.process_id = names.process(message.process_id)
    if message.user_endpoint is not None:
        message.user_endpoint.host = names.end_point(message.user_endpoint.host)
    for tag in message.client_tags or ():
        tag.key, tag.value = names.tag(tag.key), names.tag_value(tag.value)


def _topology(message: Any, group: str, names: Pseudonyms) -> None:
    for each in message.subtopologies:
        each.source_topics = [names.topic(topic, group) for topic in each.source_topics]
        each.repartition_sink_topics = [names.topic(topic, group) for topic in each.repartition_sink_topics]
        # A pattern may hold any name.
        each.source_topic_regex = [names.store(pattern) for pattern in each.source_topic_regex or ()]
        for topic in (*each.state_changelog_topics, *each.repartition_source_topics):
            topic.name = names.topic(topic.name, group)


def _config(message: Any, names: Pseudonyms) -> None:
    kept = []
    for each in message.last_assignment_configs or ():
        if each.key == "rack.aware.assignment.tags" and each.value:
            each.value = ",".join(names.tag(tag) for tag in each.value.split(","))
            kept.append(each)
        elif each.key in _NUMBERS and (each.value or "0").isdecimal():
            kept.append(each)
    message.last_assignment_configs = kept
