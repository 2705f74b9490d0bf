"""A member of a group of the streams protocol (KIP-1071), as its coordinator knows it."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

__all__ = ["StreamsMember"]


@attrs.frozen
class StreamsMember:
    """A member, whether a record or a line of the coordinator's log tells of it.

    Args:
        client_id: Its client's id.
        process_id: Its process.
        instance_id: ``group.instance.id``, or ``None``.
        rack: Its rack, or ``None``.
        tags: Its client tags.
        rebalance_timeout_ms: How long it may take to give tasks up, or ``None``: the source does not show it.
    """

    client_id: str
    process_id: str
    instance_id: str | None
    rack: str | None
    tags: Mapping[str, str]
    rebalance_timeout_ms: int | None = None
