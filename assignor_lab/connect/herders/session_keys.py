"""Keys with which workers sign requests to one another (KIP-507, reference 5.5)."""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets

from assignor_lab.connect.herders.herder import BadRequestError, ForbiddenError, HerderError
from assignor_lab.connect.logs.config_records import SessionKey

__all__ = ["ALGORITHM", "KeyNotReadyError", "key_is_due", "new_key", "sign", "verify"]

#: Kafka's name of the only algorithm that is used and accepted.
ALGORITHM = "HmacSHA256"

_KEY_BYTES = 32


class KeyNotReadyError(HerderError):
    """There is no key yet: try again in a moment."""

    status = 503


def new_key(now_ms: int) -> SessionKey:
    """A new key."""
    return SessionKey(secrets.token_bytes(_KEY_BYTES), ALGORITHM, now_ms)


def key_is_due(key: SessionKey | None, now_ms: int, ttl_ms: int) -> bool:
    """Whether the leader has to write a new one."""
    if key is None or key.algorithm != ALGORITHM or len(key.key) != _KEY_BYTES:
        return True
    return ttl_ms > 0 and now_ms - key.created_ms >= ttl_ms


def sign(key: SessionKey, body: bytes) -> str:
    """Signature of a request's body, for header ``X-Connect-Authorization``."""
    return base64.b64encode(hmac.digest(key.key, body, "sha256")).decode()


def verify(key: SessionKey | None, body: bytes, signature: str | None, algorithm: str | None) -> None:
    """Checks a request's signature.

    Raises:
        BadRequestError: without a signature or an algorithm that is accepted.
        KeyNotReadyError: if there is no key.
        ForbiddenError: if the signature is wrong.
    """
    if not signature:
        raise BadRequestError("Internal request missing required signature")
    if algorithm != ALGORITHM:
        raise BadRequestError(
            f"This worker does not support the '{algorithm!s:.80}' key signing algorithm used by other workers. "
            f"Supported: {ALGORITHM}"
        )
    if key is None:
        raise KeyNotReadyError("This worker is still starting up and has not been able to read a session key yet")
    try:
        given = base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        raise ForbiddenError("Internal request contained invalid signature.") from None
    if not hmac.compare_digest(given, hmac.digest(key.key, body, "sha256")):
        raise ForbiddenError("Internal request contained invalid signature.")
