"""A memory of one for functions of a large value that several callers ask for one after another."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

__all__ = ["keeps_last"]

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


def keeps_last(make: Callable[[_Given], _Made]) -> Callable[[_Given], _Made]:
    """The function, which makes a result again only for another object than the last one."""
    last: tuple[_Given, _Made] | None = None

    @wraps(make)
    def kept(given: _Given) -> _Made:
        nonlocal last
        found = last
        if found is None or found[0] is not given:
            found = last = given, make(given)
        return found[1]

    return kept
