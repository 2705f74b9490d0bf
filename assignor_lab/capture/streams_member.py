"""A member of a group of the streams protocol (KIP-1071), in the coordinator's view."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

__all__ = ["StreamsMember"]


@attrs.frozen
class StreamsMember:
    """A member, from a record or a log line.

    Args:
        rebalance_timeout_ms: Time limit for releasing tasks.
    """

    client_id: str
    process_id: str
    instance_id: str | None
    rack: str | None
    tags: Mapping[str, str]
    rebalance_timeout_ms: int | None = None
    host: str = ""
