"""DescribeGroups responses about Connect groups, as values.

Needs the extra ``kafka``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assignor_lab.capture.recorded.broker_answers import described_groups
from assignor_lab.capture.recorded.connect.described import DescribedRound, DescribedWorker
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.kafka.wire import WireError
from assignor_lab.kafka.wire.connect import (
    PROTOCOL_TYPE,
    decode_connect_assignment,
    decode_connect_subscription,
    protocol_of_wire_name,
)

__all__ = ["connect_rounds", "read_connect_groups"]

_STABLE = "Stable"


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
