"""Watching one call: does it read a clock, draw at random, or look at anything else that is not its input?

Python tells a profiler of every call of a C function, whatever name it was imported by; the clocks and the sources of
chance are such functions.
"""

from __future__ import annotations

import datetime as dt
import os
import random
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

__all__ = ["watched_call"]

T = TypeVar("T")

_CLOCKS = frozenset(
    getattr(time, name)
    for name in (
        "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time",
        "process_time_ns", "thread_time", "clock_gettime", "localtime", "gmtime", "sleep", "ctime",
    )
    if hasattr(time, name)
)  # fmt: skip
_NOW = frozenset({"now", "utcnow", "today"})
_CHANCE = frozenset(getattr(os, name) for name in ("urandom", "getrandom") if hasattr(os, name))
#: The generator behind ``random.random()`` and its neighbours: seeded by chance when Python starts.
_GLOBAL_RANDOM: random.Random = random._inst
#: Who reads a clock on its own account: the time stamp of a log, what Hypothesis notes at a garbage collection.
_EXCUSED = frozenset({"logging", "warnings", "_pytest", "typeguard", "hypothesis"})
#: More of one call are not told.
_MOST_SEEN = 5


def watched_call(call: Callable[[], T], seen: list[tuple[str, str]]) -> T:
    """Makes ``call`` and adds to ``seen`` what it did besides: the rule, and a sentence with the place.

    What another profiler sees meanwhile is lost to it.
    """
    ours = sys._getframe()

    def look(frame: FrameType, event: str, argument: Any) -> None:
        if event != "c_call" or len(seen) >= _MOST_SEEN:
            return
        found = _of_chance(argument) or _of_clocks(argument)
        if found is None or _is_excused(frame, ours):
            return
        caller = _caller(frame, ours)
        place = f"{caller.f_code.co_filename}:{caller.f_lineno}"
        if found not in [(rule, sentence.rpartition(" at ")[0]) for rule, sentence in seen]:
            seen.append((found[0], f"{found[1]} at {place}"))

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        return call()
    finally:
        sys.setprofile(before)


def _of_clocks(called: Any) -> tuple[str, str] | None:
    try:
        if called in _CLOCKS:
            return "no clock", f"time.{called.__name__}() was called"
    except TypeError:
        return None
    owner = getattr(called, "__self__", None)
    if getattr(called, "__name__", "") in _NOW and isinstance(owner, type) and issubclass(owner, dt.date):
        return "no clock", f"{owner.__name__}.{called.__name__}() was called"
    return None


def _of_chance(called: Any) -> tuple[str, str] | None:
    try:
        if called in _CHANCE:
            return "no chance", f"os.{called.__name__}() was called"
    except TypeError:
        return None
    if getattr(called, "__self__", None) is _GLOBAL_RANDOM:
        return "no chance", "Python's global random generator was asked"
    return None


def _is_excused(frame: FrameType, ours: FrameType) -> bool:
    looked: FrameType | None = frame
    while looked is not None and looked is not ours:
        if str(looked.f_globals.get("__name__", "")).partition(".")[0] in _EXCUSED:
            return True
        looked = looked.f_back
    return False


def _caller(frame: FrameType, ours: FrameType) -> FrameType:
    """The innermost frame that is not the standard library's: where the author looks first."""
    looked: FrameType | None = frame
    while looked is not None and looked is not ours:
        if str(looked.f_globals.get("__name__", "")).partition(".")[0] not in sys.stdlib_module_names:
            return looked
        looked = looked.f_back
    return frame
