"""Processor time of a command and all its processes, the JVM and Spark's Python workers included."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

import attrs

from assignor_lab.runtime.isolation.descendants import children_of, descendants_of
from assignor_lab.runtime.isolation.rest import fields_of

__all__ = ["ProcessorTime", "processor_time"]

#: Of prctl: orphans become children of this process, so that they are found and reaped.
_CHILD_SUBREAPER = 36
_LOOK_SECONDS = 0.1
_TICKS = os.sysconf("SC_CLK_TCK")


@attrs.define
class ProcessorTime:
    """Last seen processor time of each descendant of this process.

    The workers of PySpark's daemon are not in the times of its ended children, so each process is read while it lives.
    """

    _others: frozenset[int] = frozenset()
    _known: dict[int, float] = attrs.field(factory=dict)

    @property
    def seconds(self) -> float:
        return sum(self._known.values())

    def look(self) -> None:
        for pid in descendants_of(os.getpid()):
            fields = [] if pid in self._others else fields_of(pid)
            if fields:
                self._known[pid] = max(self._known.get(pid, 0.0), (int(fields[11]) + int(fields[12])) / _TICKS)


@contextmanager
def processor_time() -> Iterator[ProcessorTime]:
    """Yields the time of the processes that are started meanwhile; it is complete at the end."""
    ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = children_of(os.getpid())
    time, ended = ProcessorTime(frozenset(before) | frozenset(descendants_of(os.getpid()))), Event()

    def watch() -> None:
        while not ended.wait(_LOOK_SECONDS):
            time.look()

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield time
    finally:
        while orphans := [child for child in children_of(os.getpid()) if child not in before]:
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, orphans[0], os.WEXITED | os.WNOWAIT)
                time.look()
                os.waitpid(orphans[0], 0)
        ended.set()
        thread.join()
