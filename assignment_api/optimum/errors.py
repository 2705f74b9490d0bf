"""Errors of the search for the best placement."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError, ConfigError

__all__ = ["GoalError", "NoAnswerError", "SolverMissingError"]


class GoalError(ConfigError):
    """A list of goals is malformed, contradictory, or needs unknown weights or racks."""


class NoAnswerError(AssignorLabError):
    """There are tasks and no process."""

    java_type = "TaskAssignmentException"


class SolverMissingError(AssignorLabError):
    """The extra ``optimum`` is not installed."""
