"""Access to a cluster."""

from __future__ import annotations

import base64
import os
import ssl
from collections.abc import Mapping
from pathlib import Path

import attrs

from assignor_lab.connect.remote.errors import AccessError

__all__ = ["PASSWORD", "USERNAME", "RequestSettings", "access_from"]

USERNAME, PASSWORD = "ASSIGNOR_CONNECT_USERNAME", "ASSIGNOR_CONNECT_PASSWORD"

#: Shorter secrets are not searched in texts: they would match everywhere.
_SHORTEST_SECRET = 4


@attrs.frozen
class RequestSettings:
    """Settings of requests.

    Args:
        tls: ``None``: the system's certificates.
        request_timeout_s: Longest time from the begin of a request to the last byte. Connect itself gives up after 90
        s.
    """

    credentials: tuple[str, str] | None = attrs.field(default=None, repr=False)
    tls: ssl.SSLContext | None = attrs.field(default=None, repr=False)
    request_timeout_s: float = 100.0
    max_answer_bytes: int = 64 * 1024 * 1024

    def without_secrets(self, text: str) -> str:
        if self.credentials is None:
            return text
        user, password = self.credentials
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        for secret in (token, password):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, "***")
        return text


def access_from(ca_file: Path | None, environment: Mapping[str, str] = os.environ) -> RequestSettings:
    return RequestSettings(_credentials(environment), None if ca_file is None else _context(ca_file))


def _credentials(environment: Mapping[str, str]) -> tuple[str, str] | None:
    user, password = environment.get(USERNAME), environment.get(PASSWORD)
    if not user and not password:
        return None
    if not user or not password:
        missing = PASSWORD if user else USERNAME
        raise AccessError(f"{missing} is not set, but its counterpart is: set both, or none")
    if ":" in user:
        raise AccessError(f"{USERNAME} holds a colon, which basic authentication cannot send")
    return user, password


def _context(ca_file: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(ca_file))
    except ssl.SSLError as error:
        raise AccessError(f"{ca_file}: no certificates in it ({error.reason}): give a file of PEM") from None
    except OSError as error:
        raise AccessError(f"{ca_file}: {error.strerror}: give a file of PEM certificates") from None
