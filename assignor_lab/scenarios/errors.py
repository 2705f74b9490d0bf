"""Errors of scenarios that are well-formed documents."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError

__all__ = ["ScenarioKindError"]


class ScenarioKindError(AssignorLabError):
    """The kind of a scenario lacks the requested part."""
