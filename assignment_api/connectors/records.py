"""Records of source and sink tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

__all__ = ["SinkRecord", "SourceRecord"]


@attrs.frozen
class SourceRecord:
    """A record from a source task, with JSON values. Kafka: ``SourceRecord``.

    Args:
        source_partition: Its part of the source.
        source_offset: The task continues here after it.
        partition: ``None``: by the hash of the key, or 0 without one.
    """

    source_partition: Mapping[str, Any]
    source_offset: Mapping[str, Any]
    topic: str
    value: Any
    key: Any = None
    partition: int | None = None


@attrs.frozen
class SinkRecord:
    """A record for a sink task, with JSON values. Kafka: ``SinkRecord``.

    Args:
        offset: In the partition, from 0 without gaps.
        timestamp_ms: Of writing, epoch milliseconds.
    """

    topic: str
    partition: int
    offset: int
    key: Any
    value: Any
    timestamp_ms: int
