"""Errors of serving an assignor."""

from __future__ import annotations

from assignment_api import AssignorLabError

__all__ = ["PeerError", "ServingError"]


class ServingError(AssignorLabError):
    """An assignor cannot be served; the message has the obstacle and a remedy."""


class PeerError(AssignorLabError):
    """The other end is gone, slow, or breaks the protocol; the connection is closed."""
