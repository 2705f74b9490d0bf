"""Descendants of a process: search in ``/proc``, stop and end. Only Linux has them; elsewhere none are found."""

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
#: Passes over a tree that may grow meanwhile; each pass stops its processes, so few are needed.
_MAX_LOOKS = 1_000


def children_of(pid: int) -> list[int]:
    """Children of the process ``pid``; empty if the system has no such list."""
    found: list[int] = []
    with contextlib.suppress(OSError, ValueError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - a path object for each look costs more
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    return found


def descendants_of(pid: int) -> Iterator[int]:
    """All descendants of the process ``pid``, parents before their children."""
    waiting = children_of(pid)
    while waiting:
        found = waiting.pop()
        yield found
        waiting += children_of(found)


def end_descendants(pid: int, but: frozenset[int] = frozenset()) -> None:
    """Ends all descendants of the process ``pid``, and reaps its children if it is this process.

    Processes are stopped first, so that none forks meanwhile.
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
    """Processes with ``mark`` in their command line, environment or working folder, except this one.

    Forked processes share command line and environment with their parent, so they are found anywhere in the tree.
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
    """Makes this process the parent of orphans below it, instead of the system's first process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    """Has the kernel end this process with its parent."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
