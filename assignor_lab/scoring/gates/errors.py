"""Errors of a gate's expression, each with its place."""

from __future__ import annotations

from assignment_api import AssignorLabError

__all__ = ["GateError", "GateNameError", "GateSyntaxError"]


class GateError(AssignorLabError):
    """An expression cannot be used.

    Args:
        expression: The expression as it was given.
        column: Where the fault begins, from 1.
        reason: What is wrong, and the remedy.
    """

    def __init__(self, expression: str, column: int, reason: str) -> None:
        super().__init__(expression, column, reason)
        self.expression = expression
        self.column = column
        self.reason = reason

    def __str__(self) -> str:
        shown = "".join(sign if sign.isprintable() else " " for sign in self.expression)
        return f"--fail-if, column {self.column}: {self.reason}\n  {shown}\n  {' ' * (self.column - 1)}^"


class GateSyntaxError(GateError):
    """The expression is not of the grammar (docs, "Gates")."""


class GateNameError(GateError):
    """The expression is of the grammar, but means something that this run has not."""
