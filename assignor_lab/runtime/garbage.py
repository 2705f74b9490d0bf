"""Python's garbage collector in processes that ask the same plugins again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["seldom_collected", "spare_what_is_loaded"]

#: Objects that come to be between two collections, 700 otherwise, and collections between two of what has lived longer.
_SELDOM = (50_000, 50, 50)


def spare_what_is_loaded() -> None:
    """Takes all that is there now, modules and plugins above all, out of what the collector goes through.

    It goes through everything after some thousands of rows, and finds nothing in modules; that costs more for the
    memory that it touches than for its instructions: 10 % of a row's time. Garbage that is there now is never found.
    """
    gc.freeze()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Has the collector look seldom at a long computation that leaves no circles behind.

    Playing an hour of a large group makes a fifth less work in this way. What else the process does meanwhile is
    collected as seldom.
    """
    usual = gc.get_threshold()
    if usual[0]:  # else somebody has turned it off
        gc.set_threshold(*map(max, usual, _SELDOM))
    try:
        yield
    finally:
        gc.set_threshold(*usual)
