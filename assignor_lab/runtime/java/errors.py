"""Errors of Java assignors: what they raised, and that their JVM is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api import AssignorLabError, TaskAssignmentError

__all__ = ["JavaEndedError", "JavaError", "raised_in_java"]


class JavaEndedError(AssignorLabError):
    """The JVM of an assignor ended, or said something that is no answer; the next call starts another one."""


class JavaError(AssignorLabError):
    """What a Java assignor raised; a subclass has the name of what it was there.

    Attributes:
        raised_at: Where, from the assignor's first frame on.
    """

    raised_at: str = ""


class _JavaRefusalError(JavaError, TaskAssignmentError):
    """The first failure promise of KIP-924, made in Java."""


def raised_in_java(document: Mapping[str, Any]) -> JavaError:
    """The error that stands for what was raised, as :class:`Raised` of the driver tells it."""
    name = str(document.get("type") or "")
    base = _JavaRefusalError if name == TaskAssignmentError.java_type else JavaError
    known = TaskAssignmentError.__name__ if base is _JavaRefusalError else name
    made: type[JavaError] = type(known if known.isidentifier() else "JavaError", (base,), {"java_type": name or None})
    message = document.get("message")
    error = made("" if message is None else str(message))
    error.raised_at = str(document.get("where") or "")
    return error
