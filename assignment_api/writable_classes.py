"""Writable twins of frozen classes, for fast creation of many values from checked parts."""

from __future__ import annotations

from typing import Any

__all__ = ["writable_class"]


def writable_class(frozen: type) -> type[Any]:
    """A class of writable objects, which become frozen ones by assigning ``frozen`` to ``__class__``.

    Writing to an object of a frozen class goes through ``object.__setattr__`` by name, which takes about ten times as
    long as an assignment. Objects are created by ``object.__new__``, so that nothing is checked or converted. Once they
    have their class, they are as frozen as all others of it.

    Args:
        frozen: A class with slots.
    """
    # Both are needed: otherwise Python searches for the methods of frozen classes at each assignment.
    opened = {"__slots__": (), "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    return type(f"Open{frozen.__name__}", (frozen,), opened)
