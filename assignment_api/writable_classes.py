"""Writable twins of frozen classes, for fast creation."""

from __future__ import annotations

from typing import Any

__all__ = ["writable_class"]


def writable_class(frozen: type) -> type[Any]:
    """A class of writable objects; assign ``frozen`` to ``__class__`` to freeze them.

    ``object.__setattr__`` takes about ten times as long as an assignment. Create objects by ``object.__new__``: nothing
    is checked or converted.

    Args:
        frozen: A class with slots.
    """
    # Both: otherwise Python searches frozen methods at each assignment.
    opened = {"__slots__": (), "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    return type(f"Open{frozen.__name__}", (frozen,), opened)
