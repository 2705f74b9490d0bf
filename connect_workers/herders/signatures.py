"""Signatures of requests between workers (KIP-507; Kafka: ``InternalRequestSignature``)."""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets

from assignor_lab.kafka.herder.session_keys import ALGORITHM, KEY_BYTES, SessionKey
from connect_workers.contract import BadRequestError, ForbiddenError, HerderError

__all__ = ["KeyNotReadyError", "new_key", "sign", "verify"]


class KeyNotReadyError(HerderError):
    """There is no key yet: try again in a moment."""

    status = 503


def new_key(now_ms: int) -> SessionKey:
    return SessionKey(secrets.token_bytes(KEY_BYTES), ALGORITHM, now_ms)


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
