"""Repeated parts of documents: in the rounds of a history the tasks are mostly the same.

A part is recognized by its bytes and not by its object, so that a part that was changed in place is read again. The
bytes are those of ``marshal``, which keep all distinctions of JSON (``true`` and ``1``, ``1`` and ``1.0``, the order of
keys) and are written many times faster than a part is read.
"""

from __future__ import annotations

import marshal
from typing import Any, TypeVar

from assignor_lab.documents.shapes import Check

__all__ = ["KnownParts"]

T = TypeVar("T")

#: From this version on equal values may have unequal bytes, depending on shared objects.
_BEFORE_REFERENCES = 2
_MOST = 16


class KnownParts:
    """Checked parts, the latest few. Their values are shared and have to be immutable."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: dict[tuple[str, bytes], Any] = {}

    def kept(self, name: str, check: Check[T]) -> Check[T]:
        """``check``, skipped for a value that has passed it before; parts of different names are separate."""
        parts = self._parts

        def read(value: Any) -> T:
            try:
                key = name, marshal.dumps(value, _BEFORE_REFERENCES)
            except ValueError:
                return check(value)  # a value in it is no JSON, or it is nested too deeply: the check reports it
            if key not in parts:
                checked = check(value)
                if len(parts) >= _MOST:
                    del parts[next(iter(parts))]
                parts[key] = checked
            found: T = parts[key]
            return found

        return read
