"""Parts of documents that come again and again: in the rounds of a history the tasks are mostly the same.

A part is known by its bytes, not by being the same object, so that one that was changed in place is read again. The
bytes are those of ``marshal``, which keep apart whatever JSON keeps apart (``true`` and ``1``, ``1`` and ``1.0``, the
order of keys) and are written many times faster than a part is read.
"""

from __future__ import annotations

import marshal
from typing import Any, TypeVar

from assignor_lab.documents.shapes import Check

__all__ = ["KnownParts"]

T = TypeVar("T")

#: From this version on equal values may have unequal bytes, depending on which of them are one object.
_BEFORE_REFERENCES = 2
#: Parts that are kept.
_MOST = 16


class KnownParts:
    """Checked parts, the latest few. What they became is shared: it has to be immutable."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: dict[tuple[str, bytes], Any] = {}

    def kept(self, name: str, check: Check[T]) -> Check[T]:
        """``check``, which does nothing for a value whose like has passed it before.

        Args:
            name: What is checked; parts of different names are kept apart.
            check: The check.
        """
        parts = self._parts

        def read(value: Any) -> T:
            try:
                key = name, marshal.dumps(value, _BEFORE_REFERENCES)
            except ValueError:
                return check(value)  # something in it is no JSON, or it is nested too deeply: the check says so
            if key not in parts:
                checked = check(value)
                if len(parts) >= _MOST:
                    del parts[next(iter(parts))]
                parts[key] = checked
            found: T = parts[key]
            return found

        return read
