"""Members of a plain consumer group under the classic protocol, from a record or a DescribeGroups response."""

from __future__ import annotations

from typing import Any

import attrs

from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.kafka.wire import WireError
from assignor_lab.kafka.wire.consumer import (
    ConsumerAssignmentMessage,
    ConsumerSubscriptionMessage,
    decode_consumer_assignment,
    decode_consumer_subscription,
)

__all__ = ["ConsumerAnswer", "ConsumerMember", "consumer_answer"]


@attrs.frozen
class ConsumerMember:
    """A member with the content of its bytes.

    Args:
        assignment: ``None`` before the leader's answer.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    subscription: ConsumerSubscriptionMessage
    assignment: ConsumerAssignmentMessage | None


@attrs.frozen
class ConsumerAnswer:
    """A generation of a plain consumer group.

    Args:
        strategy: Name of the leader's assignor.
        members: In the order of the record or response.
    """

    group: str
    strategy: str
    members: tuple[ConsumerMember, ...]


def consumer_answer(message: Any) -> ConsumerAnswer:
    """The generation in a described group.

    Raises:
        BrokerAnswerError: if Kafka refuses the bytes of a member.
    """
    return ConsumerAnswer(str(message.group_id), str(message.protocol_data), tuple(map(_member, message.members)))


def _member(member: Any) -> ConsumerMember:
    name = str(member.member_id)
    subscription, assignment = bytes(member.member_metadata or b""), bytes(member.member_assignment or b"")
    if not subscription:
        raise BrokerAnswerError(
            f"subscription of member {name}", "is empty: no consumer of Kafka's protocol sends that"
        )
    try:
        return ConsumerMember(
            name,
            getattr(member, "group_instance_id", None) or None,
            str(member.client_id),
            str(member.client_host),
            decode_consumer_subscription(subscription),
            decode_consumer_assignment(assignment) if assignment else None,
        )
    except WireError as error:
        raise BrokerAnswerError(f"bytes of member {name}", f"are refused by Kafka ({error})") from error
