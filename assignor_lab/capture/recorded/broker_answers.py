"""Brokers' answers to DescribeGroups and Metadata, as values.

kafka-python reads the answers and the consumer protocol's envelopes in them; what Streams puts into those is read by
:mod:`assignor_lab.kafka.wire`. Needs the extra ``kafka``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import attrs

from assignor_lab.capture.recorded.errors import BrokerAnswerError, readable
from assignor_lab.kafka.wire import AssignmentInfo, SubscriptionInfo, WireError, decode_assignment, decode_subscription

__all__ = [
    "ClusterAnswer",
    "GroupAnswer",
    "MemberAnswer",
    "MemberAssignment",
    "MemberSubscription",
    "TopicPartition",
    "cluster_answer",
    "described_groups",
    "group_answers",
    "read_cluster_answer",
    "read_group_answer",
]

#: Name of a topic and number of the partition.
TopicPartition = tuple[str, int]

_T = TypeVar("_T")


@attrs.frozen
class MemberSubscription:
    """What a member said when it joined.

    Args:
        topics: Topics that it subscribes.
        owned_partitions: Partitions that it had.
        generation: The generation in which it had them, or ``None``: it had none, or speaks an older protocol.
        rack: Its ``client.rack``, or ``None``.
        info: What Streams added.
    """

    topics: tuple[str, ...]
    owned_partitions: tuple[TopicPartition, ...]
    generation: int | None
    rack: str | None
    info: SubscriptionInfo


@attrs.frozen
class MemberAssignment:
    """What the leader gave a member.

    Args:
        partitions: Its partitions; a topic's stand together, in the order of the message.
        info: What Streams added.
        user_data: The bytes of ``info``.
    """

    partitions: tuple[TopicPartition, ...]
    info: AssignmentInfo
    user_data: bytes


@attrs.frozen
class MemberAnswer:
    """One member of a group.

    Args:
        member_id: Its id, made by the broker.
        instance_id: ``group.instance.id`` of a static member, or ``None``.
        client_id: Client id of its consumer.
        subscription: What it said at its latest join; ``None`` while the group rebalances.
        assignment: What it was given; ``None`` if nothing yet.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    subscription: MemberSubscription | None
    assignment: MemberAssignment | None


@attrs.frozen
class GroupAnswer:
    """One group of a DescribeGroups answer.

    Args:
        group: Its id, which is the ``application.id``.
        state: ``Stable``, ``PreparingRebalance``, ``CompletingRebalance``, ``Empty`` or ``Dead``.
        error_code: 0, or why there is no description.
        members: Its members in the order of the answer, which is that of the leader's map of members.
    """

    group: str
    state: str
    error_code: int
    members: tuple[MemberAnswer, ...]

    @property
    def generation(self) -> int:
        """Generation of a stable group: one more than the latest that a member remembers."""
        known = [member.subscription.generation for member in self.members if member.subscription is not None]
        return max((generation for generation in known if generation is not None), default=0) + 1


@attrs.frozen
class ClusterAnswer:
    """A Metadata answer.

    Args:
        racks: Broker to its rack, or ``None``.
        topics: Topic to partition to the brokers with replicas.
    """

    racks: Mapping[int, str | None]
    topics: Mapping[str, Mapping[int, tuple[int, ...]]]


def read_group_answer(data: bytes, version: int) -> list[GroupAnswer]:
    """Reads a DescribeGroups answer (key 15).

    Args:
        data: The answer with its header, without the size before it.
        version: Version of the request.

    Raises:
        BrokerAnswerError: if the bytes are no such answer, or those of a member are no Streams member's.
    """
    return group_answers(described_groups(data, version))


def group_answers(groups: Iterable[Any]) -> list[GroupAnswer]:
    """The groups of a DescribeGroups answer that kafka-python has read.

    Raises:
        BrokerAnswerError: if a member's part is no Streams member's.
    """
    return _read("DescribeGroups answer", lambda: [_group(group) for group in groups])


def described_groups(data: bytes, version: int) -> list[Any]:
    """The groups of a DescribeGroups answer of any kind of group, as kafka-python reads them.

    Raises:
        BrokerAnswerError: if the bytes are no such answer.
    """
    from kafka.protocol.admin.groups import DescribeGroupsResponse

    def read() -> list[Any]:
        return list(DescribeGroupsResponse.decode(data, version=version, header=True).groups)

    return _read("DescribeGroups answer", read)


def read_cluster_answer(data: bytes, version: int) -> ClusterAnswer:
    """Reads a Metadata answer (key 3); topics and partitions with an error are left out.

    Args:
        data: The answer with its header, without the size before it.
        version: Version of the request.

    Raises:
        BrokerAnswerError: if the bytes are no such answer.
    """
    from kafka.protocol.metadata.metadata import MetadataResponse

    return cluster_answer(_read("Metadata answer", lambda: MetadataResponse.decode(data, version=version, header=True)))


def cluster_answer(message: Any) -> ClusterAnswer:
    """A Metadata answer that kafka-python has read; topics and partitions with an error are left out.

    Raises:
        BrokerAnswerError: if a value in it is not what the protocol says.
    """

    def read() -> ClusterAnswer:
        return ClusterAnswer(
            {broker.node_id: broker.rack or None for broker in message.brokers},
            {topic.name: _replicas(topic) for topic in message.topics if topic.error_code == 0 and topic.name},
        )

    return _read("Metadata answer", read)


def _replicas(topic: Any) -> dict[int, tuple[int, ...]]:
    return {
        partition.partition_index: tuple(partition.replica_nodes)
        for partition in topic.partitions
        if partition.error_code in _WITH_REPLICAS
    }


#: No error, no leader at the moment, a replica not at hand.
_WITH_REPLICAS = (0, 5, 9)


def _read(what: str, read: Callable[[], _T]) -> _T:
    with readable(what):
        return read()


def _group(group: Any) -> GroupAnswer:
    state = group.group_state
    return GroupAnswer(
        group.group_id, state, group.error_code, tuple(_member(member, state) for member in group.members)
    )


def _member(member: Any, state: str) -> MemberAnswer:
    metadata, assignment = bytes(member.member_metadata or b""), bytes(member.member_assignment or b"")
    name = str(member.member_id)
    return MemberAnswer(
        name,
        getattr(member, "group_instance_id", None) or None,
        str(member.client_id),
        _subscription(name, metadata) if metadata and state == "Stable" else None,
        _assignment(name, assignment) if assignment else None,
    )


def _subscription(member: str, data: bytes) -> MemberSubscription:
    from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

    what = f"subscription of member {member}"

    def read() -> MemberSubscription:
        envelope = ConsumerProtocolSubscription.decode(data)
        generation = getattr(envelope, "generation_id", None)
        return MemberSubscription(
            tuple(envelope.topics),
            _partitions(getattr(envelope, "owned_partitions", None) or ()),
            None if generation is None or generation < 0 else generation,
            getattr(envelope, "rack_id", None) or None,
            _inner(what, envelope.user_data, decode_subscription),
        )

    return _read(what, read)


def _assignment(member: str, data: bytes) -> MemberAssignment:
    from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

    what = f"assignment of member {member}"

    def read() -> MemberAssignment:
        envelope = ConsumerProtocolAssignment.decode(data)
        return MemberAssignment(
            _partitions(envelope.assigned_partitions or ()),
            _inner(what, envelope.user_data, decode_assignment),
            bytes(envelope.user_data),
        )

    return _read(what, read)


def _inner(what: str, data: bytes | None, decode: Callable[[bytes], _T]) -> _T:
    if not data:
        raise BrokerAnswerError(what, "has no user data: is this a group of Kafka Streams?")
    try:
        return decode(bytes(data))
    except WireError as error:
        raise BrokerAnswerError(what, f"its user data are not Kafka Streams': {error}") from error


def _partitions(topics: Iterable[Any]) -> tuple[TopicPartition, ...]:
    return tuple((str(topic.topic), int(number)) for topic in topics for number in topic.partitions)
