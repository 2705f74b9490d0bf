"""Records of ``__consumer_offsets`` about groups, as values.

Needs the extra ``kafka``.

A key is a 16-bit type, the group and, for some types, a member. Offset commits have other types.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import attrs

from assignor_lab.capture.recorded.broker_answers import DescribedGroup, group_answers
from assignor_lab.capture.recorded.consumer_members import ConsumerAnswer, consumer_answer
from assignor_lab.capture.recorded.errors import BrokerAnswerError, readable
from assignor_lab.capture.recorded.streams_group_answers import HeldTasks
from assignor_lab.capture.streams_member import StreamsMember
from assignor_lab.kafka.wire import STREAMS_ASSIGNOR
from assignor_lab.kafka.wire.connect import PROTOCOL_TYPE

__all__ = [
    "CONSUMERS",
    "CONSUMER_CURRENT",
    "CONSUMER_MEMBER",
    "CONSUMER_METADATA",
    "CONSUMER_REGEX",
    "CONSUMER_TARGET",
    "CONSUMER_TARGET_METADATA",
    "CONSUMER_TOPICS",
    "CURRENT_ASSIGNMENT",
    "GROUP_METADATA",
    "GROUP_RECORD_TYPES",
    "SHARE_CURRENT",
    "SHARE_MEMBER",
    "SHARE_METADATA",
    "SHARE_TARGET",
    "SHARE_TARGET_METADATA",
    "SHARE_TOPICS",
    "SUBSCRIBED_RECORD_TYPES",
    "STREAMS_MEMBER",
    "STREAMS_METADATA",
    "STREAMS_TOPOLOGY",
    "TARGET_MEMBER",
    "TARGET_METADATA",
    "ClassicGeneration",
    "GroupKey",
    "StreamsSubtopology",
    "decoded_record",
    "read_assignment_config",
    "read_classic_generation",
    "read_epoch",
    "read_group_key",
    "read_streams_member",
    "read_target",
    "read_target_epoch",
    "read_topology",
]

#: Protocol type of plain consumers and of Streams.
CONSUMERS = "consumer"
#: Types of keys. 18 was never released.
GROUP_METADATA, STREAMS_METADATA, STREAMS_MEMBER, TARGET_METADATA, TARGET_MEMBER, CURRENT_ASSIGNMENT = (
    2, 17, 19, 20, 21, 22,
)  # fmt: skip
STREAMS_TOPOLOGY = 23
#: Of consumer groups (KIP-848); the regular expression is in the place of a member.
CONSUMER_METADATA, CONSUMER_TOPICS, CONSUMER_MEMBER, CONSUMER_TARGET_METADATA, CONSUMER_TARGET, CONSUMER_CURRENT = (
    3, 4, 5, 6, 7, 8,
)  # fmt: skip
CONSUMER_REGEX = 16
#: Of share groups (KIP-932).
SHARE_MEMBER, SHARE_METADATA, SHARE_TARGET_METADATA, SHARE_TARGET, SHARE_CURRENT, SHARE_TOPICS = (
    10, 11, 12, 13, 14, 15,
)  # fmt: skip
_OF_A_GROUP = (
    GROUP_METADATA, STREAMS_METADATA, TARGET_METADATA, STREAMS_TOPOLOGY, CONSUMER_METADATA, CONSUMER_TOPICS,
    CONSUMER_TARGET_METADATA, SHARE_METADATA, SHARE_TARGET_METADATA, SHARE_TOPICS,
)  # fmt: skip
_OF_A_MEMBER = (
    STREAMS_MEMBER, TARGET_MEMBER, CURRENT_ASSIGNMENT, CONSUMER_MEMBER, CONSUMER_TARGET, CONSUMER_CURRENT,
    CONSUMER_REGEX, SHARE_MEMBER, SHARE_TARGET, SHARE_CURRENT,
)  # fmt: skip
GROUP_RECORD_TYPES = frozenset((*_OF_A_GROUP, *_OF_A_MEMBER))
#: Of consumer groups and share groups.
SUBSCRIBED_RECORD_TYPES = frozenset((*range(CONSUMER_METADATA, SHARE_TOPICS + 1), CONSUMER_REGEX))


@attrs.frozen
class GroupKey:
    """Subject of a record."""

    type: int
    group: str
    member: str | None = None


@attrs.frozen
class ClassicGeneration:
    """A generation of a group of the classic protocol.

    Args:
        protocol_type: ``consumer`` or ``connect``.
        time_ms: Time of the state change; ``None``: written by brokers before 2.1.
        message: As kafka-python reads it, with the keys of a DescribeGroups response.
    """

    generation: int
    protocol_type: str
    protocol: str | None
    leader: str | None
    time_ms: int | None
    message: Any

    @property
    def members(self) -> dict[str, str]:
        """Member ids to client ids, in the order of the record."""
        return {str(each.member_id): str(each.client_id) for each in self.message.members}

    @property
    def timeouts(self) -> Sequence[tuple[int, int]]:
        """Session and rebalance timeouts in ms, in the order of the record."""
        return [(int(each.session_timeout), int(each.rebalance_timeout)) for each in self.message.members]

    @property
    def is_connect(self) -> bool:
        return self.protocol_type == PROTOCOL_TYPE

    @property
    def is_of_consumers(self) -> bool:
        """True if the members are plain consumers."""
        return self.protocol_type == CONSUMERS and self.protocol not in (None, STREAMS_ASSIGNOR)

    def consumers(self) -> ConsumerAnswer | None:
        """``None`` unless the members are plain consumers."""
        return consumer_answer(self.message) if self.is_of_consumers else None

    def streams(self) -> DescribedGroup | None:
        """``None`` unless the members are of a Streams application."""
        if self.protocol != STREAMS_ASSIGNOR:
            return None
        (answer,) = group_answers([self.message])
        return answer


@attrs.frozen
class StreamsSubtopology:
    """A sub-topology; its sources include repartition topics."""

    id: str
    sources: tuple[str, ...]
    changelogs: tuple[str, ...]


def read_group_key(data: bytes) -> GroupKey | None:
    """``None`` if its subject is no group, such as an offset."""
    if len(data) < 2:
        raise BrokerAnswerError("key of a group's record", f"has {len(data)} bytes")
    (kind,) = struct.unpack_from(">h", data)
    if kind not in _OF_A_GROUP and kind not in _OF_A_MEMBER:
        return None
    group, position = _text(data, 2)
    member = None
    if kind in _OF_A_MEMBER:
        member, position = _text(data, position)
    if position != len(data):
        raise BrokerAnswerError("key of a group's record", f"ends at byte {position} of {len(data)}")
    return GroupKey(kind, group, member)


def _text(data: bytes, position: int) -> tuple[str, int]:
    begin = position + 2
    if len(data) < begin:
        raise BrokerAnswerError("key of a group's record", f"ends at byte {len(data)}, within a text's length")
    (length,) = struct.unpack_from(">h", data, position)
    end = begin + length
    if length < 0 or end > len(data):
        raise BrokerAnswerError("key of a group's record", f"a text at byte {position} claims {length} bytes")
    try:
        return data[begin:end].decode("utf-8"), end
    except UnicodeDecodeError as error:
        raise BrokerAnswerError("key of a group's record", f"the text at byte {position} is no UTF-8") from error


def read_classic_generation(group: str, data: bytes) -> ClassicGeneration:
    """The value of type 2."""
    subject = f"generation of group {group}"
    message = _decoded("GroupMetadataValue", data, subject)
    with readable(subject):
        at = int(getattr(message, "current_state_timestamp", -1))
        return ClassicGeneration(
            int(message.generation),
            str(message.protocol_type),
            message.protocol or None,
            message.leader or None,
            at if at >= 0 else None,
            _Described(group, str(message.protocol_type), message.protocol or "", [*map(_member, message.members)]),
        )


@attrs.frozen
class _DescribedMember:
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes
    session_timeout: int
    rebalance_timeout: int


@attrs.frozen
class _Described:
    """For the readers of a DescribeGroups response."""

    group_id: str
    protocol_type: str
    protocol_data: str
    members: list[_DescribedMember]
    group_state: str = "Stable"
    error_code: int = 0


def _member(member: Any) -> _DescribedMember:
    return _DescribedMember(
        str(member.member_id),
        getattr(member, "group_instance_id", None),
        str(member.client_id),
        str(member.client_host),
        bytes(member.subscription or b""),
        bytes(member.assignment or b""),
        int(member.session_timeout),
        int(getattr(member, "rebalance_timeout", -1)),
    )


def read_epoch(group: str, data: bytes) -> int:
    """The value of type 17."""
    return int(_decoded("StreamsGroupMetadataValue", data, f"epoch of group {group}").epoch)


def read_assignment_config(group: str, data: bytes) -> dict[str, str] | None:
    """The value of type 17: the configuration for the latest target."""
    subject = f"epoch of group {group}"
    message = _decoded("StreamsGroupMetadataValue", data, subject)
    with readable(subject):
        configs = message.last_assignment_configs
        return None if configs is None else {str(each.key): str(each.value) for each in configs}


def read_target_epoch(group: str, data: bytes) -> tuple[int, int | None]:
    """The value of type 20: the target's epoch, and its time."""
    message = _decoded("StreamsGroupTargetAssignmentMetadataValue", data, f"target of group {group}")
    at = int(getattr(message, "assignment_timestamp", 0) or 0)
    return int(message.assignment_epoch), at if at > 0 else None


def read_streams_member(group: str, data: bytes) -> StreamsMember:
    """The value of type 19."""
    subject = f"member of group {group}"
    message = _decoded("StreamsGroupMemberMetadataValue", data, subject)
    with readable(subject):
        return StreamsMember(
            str(message.client_id),
            str(message.process_id),
            message.instance_id,
            message.rack_id,
            {str(tag.key): str(tag.value) for tag in message.client_tags or ()},
            int(message.rebalance_timeout_ms),
            str(message.client_host or "").removeprefix("/"),
        )


def read_target(group: str, data: bytes, *, current: bool = False) -> HeldTasks:
    """The value of type 21, the target, or of type 22 if ``current``."""
    name = "StreamsGroupCurrentMemberAssignmentValue" if current else "StreamsGroupTargetAssignmentMemberValue"
    subject = f"tasks of a member of group {group}"
    message = _decoded(name, data, subject)
    with readable(subject):
        return HeldTasks(_tasks(message.active_tasks), _tasks(message.standby_tasks), _tasks(message.warmup_tasks))


def read_topology(group: str, data: bytes) -> list[StreamsSubtopology]:
    """The value of type 23: sub-topologies in their order."""
    subject = f"topology of group {group}"
    message = _decoded("StreamsGroupTopologyValue", data, subject)
    with readable(subject):
        return [
            StreamsSubtopology(
                str(each.subtopology_id),
                (*map(str, each.source_topics), *(str(topic.name) for topic in each.repartition_source_topics)),
                tuple(str(topic.name) for topic in each.state_changelog_topics),
            )
            for each in message.subtopologies
        ]


def _tasks(listed: Any) -> dict[str, tuple[int, ...]]:
    return {str(each.subtopology_id): tuple(sorted(int(number) for number in each.partitions)) for each in listed}


_VALUES = {
    GROUP_METADATA: "GroupMetadataValue",
    STREAMS_METADATA: "StreamsGroupMetadataValue",
    STREAMS_MEMBER: "StreamsGroupMemberMetadataValue",
    TARGET_METADATA: "StreamsGroupTargetAssignmentMetadataValue",
    TARGET_MEMBER: "StreamsGroupTargetAssignmentMemberValue",
    CURRENT_ASSIGNMENT: "StreamsGroupCurrentMemberAssignmentValue",
    STREAMS_TOPOLOGY: "StreamsGroupTopologyValue",
    CONSUMER_METADATA: "ConsumerGroupMetadataValue",
    CONSUMER_TOPICS: "ConsumerGroupPartitionMetadataValue",
    CONSUMER_MEMBER: "ConsumerGroupMemberMetadataValue",
    CONSUMER_TARGET_METADATA: "ConsumerGroupTargetAssignmentMetadataValue",
    CONSUMER_TARGET: "ConsumerGroupTargetAssignmentMemberValue",
    CONSUMER_CURRENT: "ConsumerGroupCurrentMemberAssignmentValue",
    CONSUMER_REGEX: "ConsumerGroupRegularExpressionValue",
    SHARE_MEMBER: "ShareGroupMemberMetadataValue",
    SHARE_METADATA: "ShareGroupMetadataValue",
    SHARE_TARGET_METADATA: "ShareGroupTargetAssignmentMetadataValue",
    SHARE_TARGET: "ShareGroupTargetAssignmentMemberValue",
    SHARE_CURRENT: "ShareGroupCurrentMemberAssignmentValue",
    SHARE_TOPICS: "ShareGroupStatePartitionMetadataValue",
}


def decoded_record(kind: int, data: bytes, subject: str) -> tuple[Any, int]:
    """The record, and its version."""
    message = _decoded(_VALUES[kind], data, subject)
    (version,) = struct.unpack_from(">h", data)
    return message, version


def _decoded(name: str, data: bytes, subject: str) -> Any:
    layout = _layout(name)
    (version,) = struct.unpack_from(">h", data) if len(data) >= 2 else (-1,)
    if not 0 <= version <= layout.max_version:
        raise BrokerAnswerError(subject, f"is of version {version}, 0 to {layout.max_version} are known here")
    with readable(subject):
        return layout.decode(data)


def _layout(name: str) -> Any:
    if name not in _LAYOUTS:
        from kafka.protocol.api_data import ApiData

        # kafka-python derives the layout from the class name.
        _LAYOUTS[name] = type(ApiData)(name, (ApiData,), {}, load_json=f"{__package__}.schemas")
    return _LAYOUTS[name]


_LAYOUTS: dict[str, Any] = {}
