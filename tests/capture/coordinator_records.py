from __future__ import annotations

import struct
from typing import Any

from assignor_lab.capture.recorded.broker_answers import described_groups
from assignor_lab.capture.recorded.group_records import _layout
from tests.capture.live.test_listing import DESCRIBE_GROUPS, exchanges

__all__ = ["generation", "key", "stable_groups", "value"]


def key(kind: int, *texts: str) -> bytes:
    return struct.pack(">h", kind) + b"".join(struct.pack(">h", len(text)) + text.encode() for text in texts)


def value(name: str, version: int, **fields: Any) -> bytes:
    encoded: bytes = _layout(name)(**fields, version=version).encode(version=version)
    return encoded


def generation(number: int, group: Any, version: int = 3, time_ms: int | None = None) -> bytes:
    members = [
        _layout("GroupMetadataValue").MemberMetadata(
            member_id=each.member_id,
            group_instance_id=getattr(each, "group_instance_id", None),
            client_id=each.client_id,
            client_host=each.client_host,
            rebalance_timeout=300_000,
            session_timeout=10_000,
            subscription=bytes(each.member_metadata),
            assignment=bytes(each.member_assignment),
        )
        for each in group.members
    ]
    return value(
        "GroupMetadataValue", version, protocol_type=group.protocol_type, generation=number,
        protocol=group.protocol_data, leader=group.members[0].member_id, members=members,
        current_state_timestamp=1_000 + number if time_ms is None else time_ms,
    )  # fmt: skip


def stable_groups(file: str = "plain/exchanges.jsonl.gz") -> list[Any]:
    """The groups of a recording while they were stable."""
    found = [group for data, version in exchanges(file, DESCRIBE_GROUPS) for group in described_groups(data, version)]
    return [group for group in found if group.group_state == "Stable"]
