"""Errors of Java assignors: their exceptions, and the end of their JVM."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from assignment_api import AssignorLabError, TaskAssignmentError

__all__ = ["JavaAnswerError", "JavaEndedError", "JavaError", "raised_in_java"]


#: Kafka's text for a configuration with missing keys.
_MISSING_KEY = re.compile(r'Missing required configuration "([^"]+)"')


class JavaEndedError(AssignorLabError):
    """The JVM of an assignor ended; the next call starts another one."""


class JavaAnswerError(AssignorLabError):
    """The answer of an assignor's JVM is malformed; the JVM was ended, and the next call starts another one."""


class JavaError(AssignorLabError):
    """An exception of a Java assignor; subclasses have its Java name.

    Attributes:
        raised_at: Its frames, from the assignor's first one on.
    """

    raised_at: str = ""


class _JavaRefusalError(JavaError, TaskAssignmentError):
    """The first failure promise of KIP-924, from Java."""


def raised_in_java(document: Mapping[str, Any], setting: str) -> JavaError:
    name = str(document.get("type") or "")
    base = _JavaRefusalError if name == TaskAssignmentError.java_type else JavaError
    known = TaskAssignmentError.__name__ if base is _JavaRefusalError else name
    made: type[JavaError] = type(known if known.isidentifier() else "JavaError", (base,), {"java_type": name or None})
    message = str(document.get("message") or "")
    missing = _MISSING_KEY.match(message) if name == "ConfigException" else None
    if missing is not None:
        message = (
            f"{message.rstrip('.')}: the lab keeps only the keys of a configuration that concern assignment; give the "
            f"rest with -c {setting}config.{missing[1]}=VALUE"
        )
    error = made(message)
    error.raised_at = str(document.get("where") or "")
    return error
