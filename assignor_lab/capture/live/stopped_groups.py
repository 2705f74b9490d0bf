"""Kind of classic groups without members: their coordinator no longer stores a protocol."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Sequence

from assignor_lab.capture.live.cluster import ConnectedCluster
from assignor_lab.capture.topology.internal_topics import internal_topics, is_internal_of

__all__ = ["StoppedGroups", "is_committed_by_streams"]

#: Kafka: ``TopicPartitionMetadata``.
_VERSIONS, _SHORTEST = (1, 2), 9
_COMMITTED = "without members; its offsets were committed by Kafka Streams"
_LOOKS_LIKE = "without members; looks like one of Streams by topics that are called as its internal ones would be"


class StoppedGroups:
    """Recognises classic Streams groups without members."""

    def __init__(self, cluster: ConnectedCluster, groups: Collection[str], stopped: Sequence[str]) -> None:
        self._cluster = cluster
        self._groups = groups
        self._committed = cluster.committed_metadata(stopped) if stopped else {}
        self._internal: Sequence[str] | None = None

    def note(self, group: str) -> str:
        """Empty without a sign."""
        if any(map(is_committed_by_streams, self._committed.get(group, ()))):
            return _COMMITTED
        if self._internal is None:
            self._internal = internal_topics(self._cluster.topics().topics)
        return _LOOKS_LIKE if any(is_internal_of(name, group, self._groups) for name in self._internal) else ""


def is_committed_by_streams(metadata: str) -> bool:
    """A version and the partition's time, in Base64."""
    try:
        content = base64.b64decode(metadata, validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(content) >= _SHORTEST and content[0] in _VERSIONS
