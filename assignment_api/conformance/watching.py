"""Watches a call for clocks, waiting, randomness, and hidden inputs.

Python reports every call of a C function to a profiler, under any imported name.
"""

from __future__ import annotations

import datetime as dt
import os
import random
import socket
import sys
import threading
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
#: Python functions that wait for another thread.
_WAITS = {
    threading.Condition.wait.__code__: "threading.Condition.wait()",
    threading.Thread.join.__code__: "threading.Thread.join()",
}
_LOCK = type(threading.Lock())
_POLLS = frozenset({"select", "poll", "epoll", "kqueue"})
_STARTS = threading.Thread.start.__code__
_SEEDING = random.Random.seed.__code__
_NOW = frozenset({"now", "utcnow", "today"})
_CHANCE = frozenset(getattr(os, name) for name in ("urandom", "getrandom") if hasattr(os, name))
#: Behind ``random.random()``; randomly seeded when Python starts.
_GLOBAL_RANDOM: random.Random = random._inst
#: They read clocks for their own purposes, such as time stamps of logs.
_EXCUSED = frozenset({"logging", "warnings", "_pytest", "typeguard", "hypothesis", "importlib"})
_ACQUIRES = frozenset({"acquire", "__enter__"})
#: They differ between machines, users and moments.
_OF_MACHINE = frozenset(
    {
        *(
            getattr(os, name)
            for name in ("uname", "getpid", "getppid", "getcwd", "getloadavg", "listdir", "scandir", "cpu_count")
            if hasattr(os, name)
        ),
        *(socket.gethostname, open, os.open),
    }
)
#: Modules that pass a call to another process, such as a JVM: they know processes and files.
_BRIDGES = ("assignor_lab.runtime.", "assignor_lab.clients.")
#: Behind each reading of ``os.environ``.
_ENVIRONMENT = getattr(getattr(os.environ, "encodekey", None), "__code__", None)
#: Names of the watched C functions, and of the watched Python functions.
_C_NAMES = frozenset(
    {
        *(each.__name__ for each in _CLOCKS | _CHANCE | _OF_MACHINE),
        *_NOW,
        *_POLLS,
        *_ACQUIRES,
        *vars(type(_GLOBAL_RANDOM).__base__),
    }
)
_PYTHON_NAMES = frozenset(code.co_name for code in (*_WAITS, _SEEDING, *filter(None, [_ENVIRONMENT])))
_MOST_SEEN = 5


def watched_call(call: Callable[[], T], seen: list[tuple[str, str]]) -> T:
    """Run ``call`` and add its side effects to ``seen``: rule, and sentence with the place.

    Another active profiler misses these calls.
    """
    ours = sys._getframe()

    def look(frame: FrameType, event: str, argument: Any) -> None:
        # Most calls end here, by their name: this runs at each call and return.
        if event == "c_call":
            if getattr(argument, "__name__", "") not in _C_NAMES or len(seen) >= _MOST_SEEN:
                return
            found = _of_chance(argument) or _of_clocks(argument) or _of_locks(frame, argument) or _of_machine(argument)
        elif event == "call":
            if frame.f_code.co_name not in _PYTHON_NAMES or len(seen) >= _MOST_SEEN:
                return
            found = _of_python(frame)
        else:
            return
        if found is None or _is_excused(frame, ours):
            return
        caller = _caller(frame, ours)
        if found[0] == "no machine" and str(caller.f_globals.get("__name__", "")).startswith(_BRIDGES):
            return
        place = f"{caller.f_code.co_filename}:{caller.f_lineno}"
        if found not in [(rule, sentence.rpartition(" at ")[0]) for rule, sentence in seen]:
            seen.append((found[0], f"{found[1]} at {place}"))

    before, before_in_threads = sys.getprofile(), threading.getprofile()
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        return call()
    finally:
        sys.setprofile(before)
        threading.setprofile(before_in_threads)


def _of_python(frame: FrameType) -> tuple[str, str] | None:
    code = frame.f_code
    if code in _WAITS:
        outer = frame.f_back
        while outer is not None:
            if outer.f_code is _STARTS:
                return None
            outer = outer.f_back
        return "no clock", f"{_WAITS[code]} was called"
    if code is _ENVIRONMENT:
        return "no machine", "an environment variable was read"
    if code is _SEEDING and frame.f_locals.get("a") is None:
        return "no chance", "a random generator was made without a seed"
    return None


def _of_clocks(called: Any) -> tuple[str, str] | None:
    try:
        if called in _CLOCKS:
            return "no clock", f"time.{called.__name__}() was called"
    except TypeError:
        return None
    owner = getattr(called, "__self__", None)
    if getattr(called, "__module__", "") == "select" or type(owner).__module__ == "select":
        if getattr(called, "__name__", "") in _POLLS:
            return "no clock", f"select.{called.__name__}() was called"
        return None
    if getattr(called, "__name__", "") in _NOW and isinstance(owner, type) and issubclass(owner, dt.date):
        return "no clock", f"{owner.__name__}.{called.__name__}() was called"
    return None


def _of_locks(frame: FrameType, called: Any) -> tuple[str, str] | None:
    """Outside the module threading."""
    owner: Any = getattr(called, "__self__", None)
    is_lock = type(owner) is _LOCK and called.__name__ in _ACQUIRES
    if is_lock and owner.locked() and frame.f_globals.get("__name__") != "threading":
        return "no clock", "a lock was awaited that is not free"
    return None


def _of_chance(called: Any) -> tuple[str, str] | None:
    try:
        if called in _CHANCE:
            return "no chance", f"os.{called.__name__}() was called"
    except TypeError:
        return None
    if getattr(called, "__self__", None) is _GLOBAL_RANDOM:
        return "no chance", "Python's global random generator was used"
    return None


def _of_machine(called: Any) -> tuple[str, str] | None:
    try:
        if called in _OF_MACHINE:
            return "no machine", f"{called.__name__}() was called"
    except TypeError:
        pass
    return None


def _is_excused(frame: FrameType, ours: FrameType) -> bool:
    looked: FrameType | None = frame
    while looked is not None and looked is not ours:
        if str(looked.f_globals.get("__name__", "")).partition(".")[0] in _EXCUSED:
            return True
        looked = looked.f_back
    return False


def _caller(frame: FrameType, ours: FrameType) -> FrameType:
    """The innermost frame outside the standard library."""
    looked: FrameType | None = frame
    while looked is not None and looked is not ours:
        if str(looked.f_globals.get("__name__", "")).partition(".")[0] not in sys.stdlib_module_names:
            return looked
        looked = looked.f_back
    return frame
