"""Rest between calls: a plugin that keeps the processors busy between calls is stopped until the next call.

Calls have a deadline, the time between them has none. A thread or process that is left behind would slow down all
others while its process stays warm. No answer shows the stop.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable
from time import monotonic

from assignor_lab.runtime.isolation.descendants import descendants_of

__all__ = ["Rest", "fields_of", "processor_time", "runs"]

#: Seconds between two measurements, and the share of processor time above which an idle plugin counts as busy.
_WINDOW_SECONDS = 1.0
_TOO_MUCH = 0.25
#: Passes over processes while they are stopped; a fork meanwhile is found in the next pass.
_MAX_LOOKS = 10
_TICKS = os.sysconf("SC_CLK_TCK")


class Rest:
    """The rest of one process, with everything that it started."""

    def __init__(self, supervisor: int) -> None:
        self._supervisor = supervisor
        self._since, self._used = monotonic(), self._processor()
        self._asked_at, self._in_calls = 0.0, 0.0
        self._stopped: set[int] = set()
        #: True if it was busy between calls.
        self.is_restless = False

    def over(self) -> None:
        self._look()
        _send(self._stopped, signal.SIGCONT)
        self._stopped = set()
        self._asked_at = monotonic()

    def begun(self) -> None:
        """Begins the rest after an answer."""
        self._in_calls += monotonic() - self._asked_at
        if not self.is_restless:
            return
        for _ in range(_MAX_LOOKS):
            new = set(descendants_of(self._supervisor)) - self._stopped
            if not new:
                return
            _send(new, signal.SIGSTOP)
            self._stopped |= new

    def _look(self) -> None:
        window = monotonic() - self._since
        if self.is_restless or window < _WINDOW_SECONDS:
            return
        used = self._processor()
        self.is_restless = used - self._used - self._in_calls > window * _TOO_MUCH
        self._since, self._used, self._in_calls = monotonic(), used, 0.0

    def _processor(self) -> float:
        everybody = (self._supervisor, *descendants_of(self._supervisor))
        return sum(processor_time(fields_of(pid)) for pid in everybody)


def _send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def fields_of(pid: int | str) -> list[bytes]:
    """Fields of ``stat`` of a process or thread (``PID/task/TID``), from its state on; empty if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - ten times a second
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def runs(pid: int, fields: list[bytes]) -> bool:
    """True if any thread of a process runs or waits for a processor.

    Args:
        fields: Its ``stat``, which describes only its first thread: a JVM's first thread always waits.
    """
    if fields[0] == b"R" or int(fields[17]) == 1:
        return fields[0] == b"R"
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names are enough
    except OSError:
        return False
    return any(fields_of(f"{pid}/task/{thread}")[:1] == [b"R"] for thread in threads)


def processor_time(fields: list[bytes]) -> float:
    """Processor seconds of a process, including its ended children."""
    return sum(map(int, fields[11:15])) / _TICKS
