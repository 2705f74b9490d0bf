"""Errors of a Connect worker's log."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError

__all__ = ["GarbledMessageError", "NoRoundError"]


class GarbledMessageError(AssignorLabError):
    """A line starts as a message of Kafka's, but continues otherwise."""


class NoRoundError(AssignorLabError):
    """No log holds a rebalance that its worker led, with the bytes received and sent."""
