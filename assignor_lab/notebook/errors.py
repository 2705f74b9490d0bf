"""Errors of notebooks."""

from __future__ import annotations

from assignment_api import AssignorLabError

__all__ = ["ChartError"]


class ChartError(AssignorLabError):
    """The data has nothing for this chart."""
