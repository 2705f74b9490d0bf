"""One question to a plugin's process and its answer, with an eye on time, memory, processes and output."""

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
from assignor_lab.runtime.isolation.resting import fields_of, processor_time, runs
from assignor_lab.runtime.isolation.worker import LENGTH_BYTES

__all__ = ["MAX_PROCESSES", "Ended", "Exchange"]

#: Seconds between two looks at the memory of a process that is at work.
WATCH_SECONDS = 0.1
#: How many times its deadline a plugin may take on a machine that is too busy to let it run.
MAX_STRETCH = 10
#: Processes that a plugin may have at a time, its own included.
MAX_PROCESSES = 100
_BLOCK = 65_536


class Ended(Exception):  # noqa: N818 - never leaves the two modules
    """Why an exchange came to nothing: it died, or the limit that it broke."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


class Exchange:
    """One question and its answer, with an eye on time, memory and output."""

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
        #: When the process was looked at last, and the seconds of processor time that all of it had used by then.
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
        """What the process answers to ``question``; ``meanwhile`` is done once it has been asked.

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
        # What it printed before it answered has been written by now, for it flushes first.
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
        """Waits until something can be read or written, or it is time to look after the process."""
        left = self._end - monotonic()
        if left <= 0:
            # Why it is late may be another limit, or that it had no processor since the last look.
            self._look()
            left = self._end - monotonic()
        if left <= 0:
            raise Ended("deadline")
        ready = self._poll.poll(min(left, WATCH_SECONDS) * 1_000)
        for descriptor, _ in ready:
            if descriptor == self._launched.output:
                self._take_output()
        # By the clock: who prints or answers all the time is looked after, too.
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
                # Both ends are closed there: nothing more to come, and nothing to wait for.
                with contextlib.suppress(KeyError):
                    self._poll.unregister(self._launched.output)
                return
            self._printed += len(printed)
            if self._printed > self._limits.output_kb * 1_024:
                raise Ended("output")
            self._show(printed)

    def _look(self) -> None:
        used, count, is_alive, is_running = 0, 0, not _HAS_PROC, False
        # What it started and what has ended counts, too: who keeps the processors busy itself was not kept waiting.
        processor = processor_time(fields_of(self._launched.keeper))
        waiting = children_of(self._launched.keeper)
        while waiting and count <= MAX_PROCESSES:
            pid = waiting.pop()
            fields = fields_of(pid)
            processor += processor_time(fields)
            # One that has ended and is waited for by nobody still takes a number, of which the system has not many.
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
        if used > most and (count == 1 or _held_in_all(self._launched.keeper) > most):
            raise Ended("memory")

    def _extend(self, *, is_running: bool, processor: float) -> None:
        """Puts the deadline off by the time in which the process could have run and others had the processor."""
        now = monotonic()
        if self._seen is not None and is_running:
            passed, worked = now - self._seen[0], max(processor - self._seen[1], 0.0)
            self._end = min(self._end + max(passed - worked - _TICK, 0.0), self._last_end)
        self._seen = (now, processor)


def _held_in_all(keeper: int) -> int:
    """Bytes that everything below a keeper holds, what they share counted once; it takes long to find out."""
    held = 0
    for pid in descendants_of(keeper):
        with contextlib.suppress(OSError, ValueError, StopIteration):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
            held += int(next(line for line in lines if line.startswith("Pss:")).split()[1]) * 1_024
    return held


_HAS_PROC = Path("/proc/self/stat").exists()
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = 1 / os.sysconf("SC_CLK_TCK")
