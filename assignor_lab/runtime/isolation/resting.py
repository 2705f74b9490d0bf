"""Rest between calls: a plugin that keeps the processors busy while it is asked nothing is stopped until the next call.

No deadline holds between calls. What a thread or a process that was left behind does there would slow everybody else
down, for as long as the process is kept warm. Whether it is stopped shows in no answer.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable
from time import monotonic

from assignor_lab.runtime.isolation.descendants import descendants_of

__all__ = ["Rest", "fields_of", "processor_time", "runs"]

#: Seconds between two looks at what a process has used; and the share of them that nobody needs who is not asked.
_WINDOW_SECONDS = 1.0
_TOO_MUCH = 0.25
#: Looks at processes that are being stopped; who forks meanwhile is found by the next one.
_MAX_LOOKS = 10
_TICKS = os.sysconf("SC_CLK_TCK")


class Rest:
    """The rest of one process, with everything that it started.

    Args:
        keeper: Id of its parent, to which orphans below it fall.
    """

    def __init__(self, keeper: int) -> None:
        self._keeper = keeper
        self._since, self._used = monotonic(), self._processor()
        self._asked_at, self._in_calls = 0.0, 0.0
        self._stopped: set[int] = set()
        #: Whether it has been busy without being asked.
        self.is_restless = False

    def over(self) -> None:
        """A question is about to be sent."""
        self._look()
        _send(self._stopped, signal.SIGCONT)
        self._stopped = set()
        self._asked_at = monotonic()

    def begun(self) -> None:
        """The answer has come."""
        self._in_calls += monotonic() - self._asked_at
        if not self.is_restless:
            return
        for _ in range(_MAX_LOOKS):
            new = set(descendants_of(self._keeper)) - self._stopped
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
        everybody = (self._keeper, *descendants_of(self._keeper))
        return sum(processor_time(fields_of(pid)) for pid in everybody)


def _send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def fields_of(pid: int | str) -> list[bytes]:
    """What the system tells of a process, or a thread (``PID/task/TID``), from its state on; nothing if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - ten times a second
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def runs(pid: int, fields: list[bytes]) -> bool:
    """Whether any thread of a process runs, or waits for a processor and nothing else.

    Args:
        pid: The process.
        fields: What the system tells of it, which is about its first thread alone: a JVM's does nothing but wait.
    """
    if fields[0] == b"R" or int(fields[17]) == 1:
        return fields[0] == b"R"
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names are enough
    except OSError:
        return False
    return any(fields_of(f"{pid}/task/{thread}")[:1] == [b"R"] for thread in threads)


def processor_time(fields: list[bytes]) -> float:
    """Seconds that a process has had a processor, its children that have ended included."""
    return sum(map(int, fields[11:15])) / _TICKS
