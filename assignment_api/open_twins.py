"""Open twins of frozen classes: for who makes many values of parts that need no check."""

from __future__ import annotations

from typing import Any

__all__ = ["open_twin"]


def open_twin(frozen: type) -> type[Any]:
    """A class whose objects can be written to, and become ordinary ones by assigning ``frozen`` to ``__class__``.

    Writing to an object of a frozen class goes through ``object.__setattr__`` by name, which takes about ten times as
    long as an assignment. Objects are made by ``object.__new__``, so that nothing is checked or converted; once they
    have their class, they are as frozen as all others of it.

    Args:
        frozen: A class with slots.
    """
    # Both, or Python looks for what frozen classes have in place of these at each assignment.
    opened = {"__slots__": (), "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    return type(f"Open{frozen.__name__}", (frozen,), opened)
