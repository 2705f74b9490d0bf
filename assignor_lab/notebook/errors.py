"""Errors of notebooks."""

from __future__ import annotations

from assignment_api import AssignorLabError

__all__ = ["ChartError"]


class ChartError(AssignorLabError):
    """There is nothing that a chart could show."""
