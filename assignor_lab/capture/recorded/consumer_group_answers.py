"""Responses to ConsumerGroupDescribe (KIP-848) and ShareGroupDescribe (KIP-932), as values.

Needs the extra ``kafka``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignor_lab.capture.recorded.errors import readable
from assignor_lab.capture.recorded.topic_ids import topic_id_text

__all__ = [
    "DescribedPartitionGroup",
    "DescribedPartitionMember",
    "consumer_group_answers",
    "consumer_group_messages",
    "share_group_messages",
]


@attrs.frozen
class DescribedPartitionMember:
    """One member.

    Args:
        topics: Names of the subscription, in the order of the response.
        regex: ``None`` without an expression, and in share groups.
        assignment: Topic id to partitions, in the order of the response.
        is_classic: True if it still has the classic protocol.
    """

    id: str
    client_id: str
    instance_id: str | None
    rack: str | None
    topics: tuple[str, ...]
    regex: str | None
    epoch: int
    assignment: Mapping[str, tuple[int, ...]]
    target: Mapping[str, tuple[int, ...]]
    is_classic: bool = False


@attrs.frozen
class DescribedPartitionGroup:
    """One group of a response.

    Args:
        names: Topic id to name, of the assigned topics.
        error_code: 0, or the reason for a missing description.
        is_share: True of a share group, whose response has no targets.
    """

    group: str
    state: str
    epoch: int
    assignment_epoch: int
    assignor: str
    members: tuple[DescribedPartitionMember, ...]
    names: Mapping[str, str]
    error_code: int = 0
    is_share: bool = False


def consumer_group_answers(message: Any) -> list[DescribedPartitionGroup]:
    """Includes groups with an error."""
    with readable("description of a consumer or share group"):
        return [_group(each) for each in message.groups]


def consumer_group_messages() -> tuple[Any, Any]:
    """kafka-python lacks these."""
    if _CONSUMER_GROUP not in _LAYOUTS:
        from kafka.protocol.api_message import ApiMessage

        # kafka-python derives the layout from the class name, and the response's class from the key.
        class ConsumerGroupDescribeRequest(ApiMessage, load_json=f"{__package__}.schemas"):  # type: ignore[misc, call-arg]
            """The request."""

        class ConsumerGroupDescribeResponse(ApiMessage, load_json=f"{__package__}.schemas"):  # type: ignore[misc, call-arg]
            """The answer."""

        _LAYOUTS[_CONSUMER_GROUP] = ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
    return _LAYOUTS[_CONSUMER_GROUP]


def share_group_messages() -> tuple[Any, Any]:
    """As :func:`consumer_group_messages`, of share groups."""
    if _SHARE_GROUP not in _LAYOUTS:
        from kafka.protocol.api_message import ApiMessage

        class ShareGroupDescribeRequest(ApiMessage, load_json=f"{__package__}.schemas"):  # type: ignore[misc, call-arg]
            """The request."""

        class ShareGroupDescribeResponse(ApiMessage, load_json=f"{__package__}.schemas"):  # type: ignore[misc, call-arg]
            """The answer."""

        _LAYOUTS[_SHARE_GROUP] = ShareGroupDescribeRequest, ShareGroupDescribeResponse
    return _LAYOUTS[_SHARE_GROUP]


#: Keys of the requests.
_CONSUMER_GROUP, _SHARE_GROUP = 69, 77
_LAYOUTS: dict[int, tuple[Any, Any]] = {}


def _group(group: Any) -> DescribedPartitionGroup:
    names: dict[str, str] = {}
    members = []
    is_share = False
    for each in group.members:
        target = getattr(each, "target_assignment", None)
        is_share = target is None
        for topic in (*each.assignment.topic_partitions, *(() if target is None else target.topic_partitions)):
            names[topic_id_text(topic.topic_id)] = str(topic.topic_name)
        members.append(_member(each, target))
    return DescribedPartitionGroup(
        str(group.group_id),
        str(group.group_state),
        int(group.group_epoch),
        int(group.assignment_epoch),
        str(group.assignor_name),
        tuple(members),
        names,
        int(group.error_code),
        is_share,
    )


def _member(member: Any, target: Any) -> DescribedPartitionMember:
    held = _partitions(member.assignment.topic_partitions)
    return DescribedPartitionMember(
        str(member.member_id),
        str(member.client_id),
        getattr(member, "instance_id", None) or None,
        member.rack_id or None,
        tuple(map(str, member.subscribed_topic_names)),
        getattr(member, "subscribed_topic_regex", None) or None,
        int(member.member_epoch),
        held,
        held if target is None else _partitions(target.topic_partitions),
        getattr(member, "member_type", -1) == 0,
    )


def _partitions(listed: Iterable[Any]) -> dict[str, tuple[int, ...]]:
    return {topic_id_text(each.topic_id): tuple(int(number) for number in each.partitions) for each in listed}
