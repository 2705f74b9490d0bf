"""One call of a plugin's process and its answer, within limits of time, memory, processes and output."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from assignor_lab.runtime.isolation.descendants import children_of, descendants_of
from assignor_lab.runtime.isolation.launching import Launched
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.rest import fields_of, processor_time, runs
from assignor_lab.runtime.isolation.worker import LENGTH_BYTES

__all__ = ["MAX_PROCESSES", "Ended", "Exchange"]

WATCH_SECONDS = 0.1
#: Longest extension on a busy machine, as a multiple of the deadline.
MAX_STRETCH = 10
#: Simultaneous processes of a plugin, including its own.
MAX_PROCESSES = 100
_BLOCK = 65_536


class Ended(Exception):  # noqa: N818 - never leaves the two modules
    """The reason of a failed exchange: the end of the process, or the exceeded limit."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


class Exchange:
    """One call and its answer, within limits of time, memory and output."""

    def __init__(
        self,
        launched: Launched | None,
        limits: Limits,
        allowed_ms: int,
        show: Callable[[bytes], None],
        most_bytes: int,
    ) -> None:
        assert launched is not None
        self._most_bytes = most_bytes
        self._launched = launched
        self._limits = limits
        self._show = show
        start = monotonic()
        self._allowed = allowed_ms / 1_000
        self._end, self._last_end = start + self._allowed, start + self._allowed * MAX_STRETCH
        #: Time of the last measurement, and the processor seconds of all processes until then.
        self._seen: tuple[float, float] | None = None
        self._printed = 0
        self._received = bytearray()
        self._next_look = monotonic() + WATCH_SECONDS
        self._poll = select.poll()
        self._poll.register(launched.connection, select.POLLIN)
        self._poll.register(launched.output, select.POLLIN)

    def answer(
        self, question: tuple[int, str, tuple[Any, ...]], meanwhile: Callable[[], object] | None = None
    ) -> bytes:
        """The answer of the process to ``question``; ``meanwhile`` runs after the question was sent.

        Raises:
            Ended: if no answer comes.
        """
        content = pickle.dumps(question, protocol=5)
        self._send(len(content).to_bytes(LENGTH_BYTES, "big") + content)
        if meanwhile is not None:
            meanwhile()
        length = LENGTH_BYTES + int.from_bytes(self._received_to(LENGTH_BYTES), "big")
        if length > LENGTH_BYTES + self._most_bytes:
            raise Ended("size")
        found = self._received_to(length)[LENGTH_BYTES:]
        if len(self._received) > length:
            raise Ended("more")
        # The process flushes its output before it answers, so all output is here by now.
        self._take_output()
        return found

    def _send(self, content: bytes) -> None:
        rest = memoryview(content)
        connection = self._launched.connection
        while rest:
            try:
                rest = rest[connection.send(rest) :]
            except BlockingIOError:
                self._poll.modify(connection, select.POLLIN | select.POLLOUT)
                self._wait()
                self._poll.modify(connection, select.POLLIN)
            except OSError:
                raise Ended("died") from None

    def _received_to(self, count: int) -> bytes:
        while len(self._received) < count:
            try:
                part = self._launched.connection.recv(_BLOCK)
            except BlockingIOError:
                self._wait()
                continue
            except OSError:
                raise Ended("died") from None
            if not part:
                self._take_output()
                raise Ended("died")
            self._received += part
        return bytes(self._received[:count])

    def _wait(self) -> None:
        """Waits until the connection or the output is ready, or the next measurement is due."""
        left = self._end - monotonic()
        if left <= 0:
            # The delay may come from another limit, or from a missing processor since the last measurement.
            self._look()
            left = self._end - monotonic()
        if left <= 0:
            raise Ended("deadline")
        ready = self._poll.poll(min(left, WATCH_SECONDS) * 1_000)
        for descriptor, _ in ready:
            if descriptor == self._launched.output:
                self._take_output()
        # By the clock, so that steady output does not prevent a measurement.
        if not ready or monotonic() >= self._next_look:
            self._look()
            self._next_look = monotonic() + WATCH_SECONDS

    def _take_output(self) -> None:
        while True:
            try:
                printed = os.read(self._launched.output, _BLOCK)
            except BlockingIOError:
                return
            if not printed:
                # Both ends are closed: nothing more arrives.
                with contextlib.suppress(KeyError):
                    self._poll.unregister(self._launched.output)
                return
            self._printed += len(printed)
            if self._printed > self._limits.output_kb * 1_024:
                raise Ended("output")
            self._show(printed)

    def _look(self) -> None:
        used, count, is_alive, is_running = 0, 0, not _HAS_PROC, False
        # Ended child processes count, too: a plugin that keeps the processors busy itself gets no extension.
        processor = processor_time(fields_of(self._launched.supervisor))
        waiting = children_of(self._launched.supervisor)
        while waiting and count <= MAX_PROCESSES:
            pid = waiting.pop()
            fields = fields_of(pid)
            processor += processor_time(fields)
            count += bool(fields)
            if not fields or fields[0] in (b"Z", b"X"):
                continue
            used += int(fields[21]) * _PAGE
            is_alive |= pid == self._launched.pid
            is_running = is_running or runs(pid, fields)
            waiting += children_of(pid)
        if not is_alive:
            raise Ended("died")
        self._extend(is_running=is_running, processor=processor)
        if count > MAX_PROCESSES:
            raise Ended("processes")
        most = self._limits.memory_mb * 2**20
        if used > most and (count == 1 or _held_in_all(self._launched.supervisor) > most):
            raise Ended("memory")

    def _extend(self, *, is_running: bool, processor: float) -> None:
        """Extends the deadline by the time in which the process was ready and other processes had the processor."""
        now = monotonic()
        if self._seen is not None and is_running:
            passed, worked = now - self._seen[0], max(processor - self._seen[1], 0.0)
            self._end = min(self._end + max(passed - worked - _TICK, 0.0), self._last_end)
        self._seen = (now, processor)


def _held_in_all(supervisor: int) -> int:
    """Bytes of memory of everything below a supervisor, with shared memory counted once; slow."""
    held = 0
    for pid in descendants_of(supervisor):
        with contextlib.suppress(OSError, ValueError, StopIteration):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
            held += int(next(line for line in lines if line.startswith("Pss:")).split()[1]) * 1_024
    return held


_HAS_PROC = Path("/proc/self/stat").exists()
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = 1 / os.sysconf("SC_CLK_TCK")
