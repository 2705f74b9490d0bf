"""Errors of serving an assignor."""

from __future__ import annotations

from assignment_api import AssignorLabError

__all__ = ["PeerError", "ServingError"]


class ServingError(AssignorLabError):
    """An assignor cannot be served: what is in the way, and what to do about it."""


class PeerError(AssignorLabError):
    """Who is at the other end is gone, slow, or says what the protocol does not know; the connection is closed."""
