"""DescribeGroups responses about Connect groups, as values.

Needs the extra ``kafka``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from assignment_api.connect import ConnectProtocol, Jobs
from assignor_lab.capture.recorded.broker_answers import described_groups
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.kafka.wire import WireError
from assignor_lab.kafka.wire.connect import (
    PROTOCOL_TYPE,
    AssignmentMessage,
    SubscriptionMessage,
    decode_connect_assignment,
    decode_connect_subscription,
    protocol_of_wire_name,
)

__all__ = ["DescribedWorker", "DescribedRound", "connect_rounds", "read_connect_groups"]

_STABLE = "Stable"


@attrs.frozen
class DescribedWorker:
    """One worker of a stable group.

    Args:
        assignment: A difference from version 1 on.
    """

    member_id: str
    client_id: str
    subscription: SubscriptionMessage
    assignment: AssignmentMessage

    @property
    def owned_after(self) -> Jobs:
        return self.subscription.owned.minus(self.assignment.revoked).plus(self.assignment.assigned)


@attrs.frozen
class DescribedRound:
    """A generation of a Connect group: subscriptions and assignments."""

    group: str
    protocol: ConnectProtocol
    members: tuple[DescribedWorker, ...]

    @property
    def leader(self) -> str:
        return self.members[0].assignment.leader

    @property
    def delay_ms(self) -> int:
        return max(member.assignment.delay_ms for member in self.members)

    @property
    def is_mismatch(self) -> bool:
        """The leader had not read the configuration far enough: no assignor ran."""
        return any(member.assignment.error for member in self.members)


def read_connect_groups(data: bytes, version: int) -> list[DescribedRound]:
    """Only a stable group shows its subscriptions; others are left out."""
    return connect_rounds(described_groups(data, version))


def connect_rounds(groups: Iterable[Any]) -> list[DescribedRound]:
    rounds = []
    for group in groups:
        if group.error_code or group.protocol_type != PROTOCOL_TYPE or group.group_state != _STABLE:
            continue
        members = tuple(_member(member) for member in group.members)
        # The response came between two steps of the coordinator.
        complete = [member for member in members if member is not None]
        if len(complete) != len(members) or not members:
            continue
        try:
            protocol = protocol_of_wire_name(str(group.protocol_data))
        except WireError as error:
            raise BrokerAnswerError(f"group {group.group_id}", str(error)) from error
        rounds.append(DescribedRound(str(group.group_id), protocol, tuple(complete)))
    return rounds


def _member(member: object) -> DescribedWorker | None:
    metadata = bytes(getattr(member, "member_metadata", None) or b"")
    assignment = bytes(getattr(member, "member_assignment", None) or b"")
    name = str(getattr(member, "member_id", ""))
    if not metadata or not assignment:
        return None
    try:
        return DescribedWorker(
            name,
            str(getattr(member, "client_id", "")),
            decode_connect_subscription(metadata),
            decode_connect_assignment(assignment),
        )
    except WireError as error:
        raise BrokerAnswerError(f"member {name}", f"is not a Connect worker's: {error}") from error
