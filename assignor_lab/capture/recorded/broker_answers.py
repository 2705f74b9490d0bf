"""Responses to DescribeGroups and Metadata, as values.

Needs the extra ``kafka``.

kafka-python reads responses and envelopes; :mod:`assignor_lab.kafka.wire` reads the Streams content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import attrs

from assignor_lab.capture.recorded.errors import BrokerAnswerError, readable
from assignor_lab.capture.recorded.topic_ids import topic_id_text
from assignor_lab.kafka.wire import AssignmentInfo, SubscriptionInfo, WireError, decode_assignment, decode_subscription

__all__ = [
    "ClusterAnswer",
    "DescribedGroup",
    "MemberAnswer",
    "DescribedAssignment",
    "DescribedSubscription",
    "TopicPartition",
    "cluster_answer",
    "described_groups",
    "group_answers",
    "read_cluster_answer",
    "read_group_answer",
]

TopicPartition = tuple[str, int]

_T = TypeVar("_T")


@attrs.frozen
class DescribedSubscription:
    """A member's subscription.

    Args:
        generation: The generation in which it owned them; ``None``: none, or an older protocol.
    """

    topics: tuple[str, ...]
    owned_partitions: tuple[TopicPartition, ...]
    generation: int | None
    rack: str | None
    info: SubscriptionInfo


@attrs.frozen
class DescribedAssignment:
    """A member's assignment."""

    partitions: tuple[TopicPartition, ...]
    info: AssignmentInfo
    user_data: bytes


@attrs.frozen
class MemberAnswer:
    """A member; its subscription is ``None`` while the group rebalances."""

    member_id: str
    instance_id: str | None
    client_id: str
    subscription: DescribedSubscription | None
    assignment: DescribedAssignment | None
    host: str = ""


@attrs.frozen
class DescribedGroup:
    """One group of a DescribeGroups response.

    Args:
        group: The ``application.id``.
        state: ``Stable``, ``PreparingRebalance``, ``CompletingRebalance``, ``Empty`` or ``Dead``.
        error_code: 0, or the reason for a missing description.
        members: In the order of the response, which is that of the leader's map of members.
    """

    group: str
    state: str
    error_code: int
    members: tuple[MemberAnswer, ...]

    @property
    def generation(self) -> int | None:
        """One more than the latest in the members' subscriptions of a stable group.

        ``None`` if no member reports one, and a static member may have restarted: it joins the same generation again,
        and its new subscription has none.
        """
        known = [member.subscription.generation for member in self.members if member.subscription is not None]
        reported = [generation for generation in known if generation is not None]
        if not reported and any(member.instance_id is not None for member in self.members):
            return None
        return max(reported, default=0) + 1

    def named(self, time_ms: int, logged: int | None = None) -> tuple[str, dict[str, object]]:
        """The id of a scenario, and group and generation as keys of its ``source``.

        Args:
            time_ms: In the id of an unknown generation.
            logged: The generation of a log, if the description does not show it.
        """
        number = logged if self.generation is None else self.generation
        if number is None:
            return f"{self.group}-at-{time_ms}", {"group": self.group}
        return f"{self.group}-generation-{number}", {"group": self.group, "generation": number}


@attrs.frozen
class ClusterAnswer:
    """A Metadata response.

    Args:
        topics: Topic to partition to the brokers with replicas.
        ids: Topic to its id; empty from brokers before 2.8.
    """

    racks: Mapping[int, str | None]
    topics: Mapping[str, Mapping[int, tuple[int, ...]]]
    ids: Mapping[str, str] = attrs.field(factory=dict)


def read_group_answer(data: bytes, version: int) -> list[DescribedGroup]:
    """Reads a DescribeGroups response (key 15), with its header, without its size."""
    return group_answers(described_groups(data, version))


def group_answers(groups: Iterable[Any]) -> list[DescribedGroup]:
    return _read("DescribeGroups answer", lambda: [_group(group) for group in groups])


def described_groups(data: bytes, version: int) -> list[Any]:
    from kafka.protocol.admin.groups import DescribeGroupsResponse

    def read() -> list[Any]:
        return list(DescribeGroupsResponse.decode(data, version=version, header=True).groups)

    return _read("DescribeGroups answer", read)


def read_cluster_answer(data: bytes, version: int) -> ClusterAnswer:
    """Reads a Metadata response (key 3); topics and partitions with an error are left out."""
    from kafka.protocol.metadata.metadata import MetadataResponse

    return cluster_answer(_read("Metadata answer", lambda: MetadataResponse.decode(data, version=version, header=True)))


def cluster_answer(message: Any) -> ClusterAnswer:
    """Leaves out topics and partitions with an error."""

    def read() -> ClusterAnswer:
        return ClusterAnswer(
            {broker.node_id: broker.rack or None for broker in message.brokers},
            {topic.name: _replicas(topic) for topic in message.topics if topic.error_code == 0 and topic.name},
            {
                topic.name: topic_id_text(topic.topic_id)
                for topic in message.topics
                if topic.error_code == 0 and topic.name and getattr(topic, "topic_id", None) is not None
            },
        )

    return _read("Metadata answer", read)


def _replicas(topic: Any) -> dict[int, tuple[int, ...]]:
    return {
        partition.partition_index: tuple(partition.replica_nodes)
        for partition in topic.partitions
        if partition.error_code in _WITH_REPLICAS
    }


#: No error, no leader at the moment, an unavailable replica.
_WITH_REPLICAS = (0, 5, 9)


def _read(subject: str, read: Callable[[], _T]) -> _T:
    with readable(subject):
        return read()


def _group(group: Any) -> DescribedGroup:
    state = group.group_state
    return DescribedGroup(
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
        str(getattr(member, "client_host", None) or "").removeprefix("/"),
    )


def _subscription(member: str, data: bytes) -> DescribedSubscription:
    from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

    subject = f"subscription of member {member}"

    def read() -> DescribedSubscription:
        envelope = ConsumerProtocolSubscription.decode(data)
        generation = getattr(envelope, "generation_id", None)
        return DescribedSubscription(
            tuple(envelope.topics),
            _partitions(getattr(envelope, "owned_partitions", None) or ()),
            None if generation is None or generation < 0 else generation,
            getattr(envelope, "rack_id", None) or None,
            _inner(subject, envelope.user_data, decode_subscription),
        )

    return _read(subject, read)


def _assignment(member: str, data: bytes) -> DescribedAssignment:
    from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

    subject = f"assignment of member {member}"

    def read() -> DescribedAssignment:
        envelope = ConsumerProtocolAssignment.decode(data)
        return DescribedAssignment(
            _partitions(envelope.assigned_partitions or ()),
            _inner(subject, envelope.user_data, decode_assignment),
            bytes(envelope.user_data),
        )

    return _read(subject, read)


def _inner(subject: str, data: bytes | None, decode: Callable[[bytes], _T]) -> _T:
    if not data:
        raise BrokerAnswerError(subject, "has no user data: is this a group of Kafka Streams?")
    try:
        return decode(bytes(data))
    except WireError as error:
        raise BrokerAnswerError(subject, f"its user data are not Kafka Streams': {error}") from error


def _partitions(topics: Iterable[Any]) -> tuple[TopicPartition, ...]:
    return tuple((str(topic.topic), int(number)) for topic in topics for number in topic.partitions)
