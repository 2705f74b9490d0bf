"""Bounds and names of a worker's REST interface."""

from __future__ import annotations

import attrs

from assignor_lab.http.settings import HttpSettings

__all__ = ["RestSettings"]


@attrs.frozen
class RestSettings(HttpSettings):
    """Bounds of any server, and those of Connect's REST interface.

    Args:
        max_body_bytes: Longer bodies are answered 413.
        request_timeout_s: Limit of Connect for the herder's work (90 s, a constant there).
        health_timeout_s: Its limit for ``/health`` (10 s).
        body_timeout_s: A body must have arrived after this time.
    """

    max_body_bytes: int = 1024 * 1024
    request_timeout_s: float = 90.0
    health_timeout_s: float = 10.0
    body_timeout_s: float = 30.0
