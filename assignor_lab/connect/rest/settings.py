"""Bounds and names of a worker's REST interface."""

from __future__ import annotations

import attrs

__all__ = ["RestSettings"]


@attrs.frozen
class RestSettings:
    """How a worker's REST interface guards itself, and how long it waits.

    Args:
        allowed_hosts: Names under which clients may ask, beside loopback's and the bound address. Anything else in
            the ``Host`` header is refused, so that a page cannot reach us by a name of its own (DNS rebinding).
        allowed_origins: Origins (``https://console.example``) whose pages may read and change things.
        max_body_bytes: Longer bodies are answered 413.
        request_timeout_s: Limit of Connect for what the herder does (90 s, a constant there).
        health_timeout_s: Its limit for ``/health`` (10 s).
        body_timeout_s: A body has to have arrived after this time.
        header_timeout_s: So has the head of a request.
        max_header_bytes: Longer heads are answered 431.
        max_connections: A further one takes the place of one that is silent for a second, or is answered 503.
    """

    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    max_body_bytes: int = 1024 * 1024
    request_timeout_s: float = 90.0
    health_timeout_s: float = 10.0
    body_timeout_s: float = 30.0
    header_timeout_s: float = 30.0
    max_header_bytes: int = 8192
    max_connections: int = 500
