"""Session keys for signatures of requests between workers (KIP-507; Kafka: ``InternalRequestSignature``)."""

from __future__ import annotations

import attrs

__all__ = ["ALGORITHM", "KEY_BYTES", "SessionKey", "key_is_due"]

#: Kafka's name of the only algorithm used and accepted.
ALGORITHM = "HmacSHA256"

KEY_BYTES = 32


@attrs.frozen
class SessionKey:
    """Key for signatures of requests between workers (KIP-507)."""

    key: bytes = attrs.field(repr=False)
    algorithm: str
    created_ms: int


def key_is_due(key: SessionKey | None, now_ms: int, ttl_ms: int) -> bool:
    """True if the leader must write a new key; ``ttl_ms`` is ``inter.worker.key.ttl.ms``, 0 = never by age."""
    if key is None or key.algorithm != ALGORITHM or len(key.key) != KEY_BYTES:
        return True
    return ttl_ms > 0 and now_ms - key.created_ms >= ttl_ms
