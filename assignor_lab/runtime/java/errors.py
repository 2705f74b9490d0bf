"""Errors of Java assignors: what they raised, and that their JVM is gone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from assignment_api import AssignorLabError, TaskAssignmentError

__all__ = ["JavaAnswerError", "JavaEndedError", "JavaError", "raised_in_java"]


#: Kafka's words where a configuration is made of keys that are not all there.
_MISSING_KEY = re.compile(r'Missing required configuration "([^"]+)"')


class JavaEndedError(AssignorLabError):
    """The JVM of an assignor ended; the next call starts another one."""


class JavaAnswerError(AssignorLabError):
    """What came from the JVM of an assignor is no answer; it was ended, and the next call starts another one."""


class JavaError(AssignorLabError):
    """What a Java assignor raised; a subclass has the name of what it was there.

    Attributes:
        raised_at: Where, from the assignor's first frame on.
    """

    raised_at: str = ""


class _JavaRefusalError(JavaError, TaskAssignmentError):
    """The first failure promise of KIP-924, made in Java."""


def raised_in_java(document: Mapping[str, Any], setting: str) -> JavaError:
    """The error that stands for what was raised.

    Args:
        document: What the driver's ``Raised`` tells.
        setting: Before the key of a setting of the assignor.
    """
    name = str(document.get("type") or "")
    base = _JavaRefusalError if name == TaskAssignmentError.java_type else JavaError
    known = TaskAssignmentError.__name__ if base is _JavaRefusalError else name
    made: type[JavaError] = type(known if known.isidentifier() else "JavaError", (base,), {"java_type": name or None})
    message = str(document.get("message") or "")
    missing = _MISSING_KEY.match(message) if name == "ConfigException" else None
    if missing is not None:
        message = (
            f"{message.rstrip('.')}: the lab keeps of a configuration what concerns assignment; give the rest with "
            f"-c {setting}config.{missing[1]}=VALUE"
        )
    error = made(message)
    error.raised_at = str(document.get("where") or "")
    return error
