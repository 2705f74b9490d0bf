"""Descendants of a process: found in ``/proc``, stopped, and ended. Elsewhere than on Linux none are found."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator

__all__ = ["become_subreaper", "children_of", "descendants_of", "end_descendants", "end_with_parent", "marked"]

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
#: Looks at a tree that grows while one looks at it; each stops what it finds, so that few are needed.
_MAX_LOOKS = 1_000


def children_of(pid: int) -> list[int]:
    """Children of the process ``pid``; none where the system does not tell."""
    found: list[int] = []
    with contextlib.suppress(OSError, ValueError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - a path object for each look costs more
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    return found


def descendants_of(pid: int) -> Iterator[int]:
    """Everything below the process ``pid``, parents before their children."""
    waiting = children_of(pid)
    while waiting:
        found = waiting.pop()
        yield found
        waiting += children_of(found)


def end_descendants(pid: int, but: frozenset[int] = frozenset()) -> None:
    """Ends everything below the process ``pid``, and waits for its children where that is this process.

    Whoever forks while it is ended is stopped first: then nothing new comes.

    Args:
        pid: The process; orphans below it fall to it where it is a subreaper, as this asks for.
        but: Children that are left alone, with what is below them.
    """
    for _ in range(_MAX_LOOKS):
        stopped: set[int] = set()
        while True:
            children = [child for child in children_of(pid) if child not in but]
            new = {found for child in children for found in (child, *descendants_of(child))} - stopped
            if not new:
                break
            for found in new:
                _send(found, signal.SIGSTOP)
            stopped |= new
        if not stopped:
            return
        for found in stopped:
            _send(found, signal.SIGKILL)
        if pid != os.getpid():
            return
        for child in children_of(pid):
            if child not in but:
                with contextlib.suppress(OSError):
                    os.waitpid(child, 0)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def marked(mark: str) -> list[int]:
    """Processes that have ``mark`` in their command line, environment or working folder, this one aside.

    They are found wherever they went: forked ones share the command line and the environment of whom they came from.
    """
    found: list[int] = []
    with contextlib.suppress(OSError):
        names = [name for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - as above
        found += [int(name) for name in names if int(name) != os.getpid() and _is_marked(name, mark.encode())]
    return found


def _is_marked(pid: str, mark: bytes) -> bool:
    for file in ("cmdline", "environ"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/{file}", "rb") as opened:  # noqa: PTH123
            if mark in opened.read():
                return True
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/cwd").encode(errors="surrogateescape").startswith(mark)  # noqa: PTH115
    return False


def become_subreaper() -> None:
    """Orphans below this process become its children, and not those of the system's first process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    """This process is ended as soon as its parent is gone."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    """Linux's ``prctl``; other systems have no such thing."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
