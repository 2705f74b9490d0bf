"""Session keys, with which workers sign requests to one another (KIP-507; Kafka: ``InternalRequestSignature``)."""

from __future__ import annotations

import attrs

__all__ = ["ALGORITHM", "KEY_BYTES", "SessionKey", "key_is_due"]

#: Kafka's name of the only algorithm that is used and accepted.
ALGORITHM = "HmacSHA256"

#: Length of a key.
KEY_BYTES = 32


@attrs.frozen
class SessionKey:
    """The key with which workers sign requests to one another (KIP-507)."""

    key: bytes = attrs.field(repr=False)
    algorithm: str
    created_ms: int


def key_is_due(key: SessionKey | None, now_ms: int, ttl_ms: int) -> bool:
    """Whether the leader has to write a new one; ``ttl_ms`` is ``inter.worker.key.ttl.ms``, 0 = never by age."""
    if key is None or key.algorithm != ALGORITHM or len(key.key) != KEY_BYTES:
        return True
    return ttl_ms > 0 and now_ms - key.created_ms >= ttl_ms
