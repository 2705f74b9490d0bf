"""Bounds of a server, and the names under which clients may reach it."""

from __future__ import annotations

import attrs

__all__ = ["HttpSettings"]


@attrs.frozen
class HttpSettings:
    """Bounds for connections, allowed hosts and allowed origins.

    Args:
        allowed_hosts: Allowed names in the ``Host`` header, beside loopback's and the bound address. Others are
            refused, so that a page cannot reach the server by a name of its own (DNS rebinding).
        allowed_origins: Origins (``https://console.example``) whose pages may read and change things.
        header_timeout_s: The head of a request must have arrived after this time.
        max_header_bytes: Longer heads are answered 431.
        max_connections: A further one takes the place of one that is silent for a second, or is answered 503.
    """

    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    header_timeout_s: float = 30.0
    max_header_bytes: int = 8192
    max_connections: int = 500
