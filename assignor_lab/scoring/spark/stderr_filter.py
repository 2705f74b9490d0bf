"""A filter for standard error of the JVM and the Python workers.

The JVM inherits its standard error for life, and the workers inherit it from the JVM. So at their start a pipe takes
its place, and a thread copies the pipe's lines, without the standard lines of Spark and without terminal codes, since a
plugin may print anything.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

__all__ = ["filtered_pipe", "filtered_stderr"]

#: Beginnings of lines without information on the run.
NOISE = (
    "WARNING: Using incubator modules",
    "Setting default log level to",
    "To adjust logging level use",
    "WARNING: A terminally deprecated method in sun.misc.Unsafe",
    "WARNING: sun.misc.Unsafe",
    "WARNING: Please consider reporting this to the maintainers",
)
#: Beginning of a stack trace, and beginning of the trace of an interrupted worker.
TRACE = "Traceback (most recent call last):"
BROKEN_OFF = ("BrokenPipeError", "ConnectionResetError")
#: Most lines of stack traces that are held back until their end is known.
HELD_LINES = 200
#: Longest copied line, in bytes; its rest is dropped.
LINE_LIMIT = 4_000
_STDERR = 2


@contextmanager
def filtered_stderr() -> Iterator[None]:
    """Processes that start inside the block write to standard error through a filter, also after the block."""
    with filtered_pipe() as writing:
        kept = os.dup(_STDERR)
        sys.stderr.flush()
        os.dup2(writing, _STDERR)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, _STDERR)
            os.close(kept)


@contextmanager
def filtered_pipe() -> Iterator[int]:
    """A file descriptor for processes that start inside the block; it leads to standard error through a filter."""
    reading, writing = os.pipe()
    target = os.dup(_STDERR)
    threading.Thread(target=_copy, args=(reading, target), daemon=True, name="assignor-stderr").start()
    try:
        yield writing
    finally:
        os.close(writing)


def _copy(reading: int, target: int) -> None:
    worth_reading = _WorthReading(target)
    _copy_lines(reading, worth_reading)
    worth_reading.give_up()


def _copy_lines(reading: int, target: _WorthReading) -> None:
    with open(reading, "rb", buffering=0) as source:
        rest = b""
        too_long = False
        while block := source.read(65_536):
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                if not too_long:
                    target.take(line)
                too_long = False
            if len(rest) > LINE_LIMIT:
                if not too_long:
                    target.take(rest)
                too_long, rest = True, b""
        if rest and not too_long:
            target.take(rest)


@attrs.define
class _WorthReading:
    target: int
    #: Open stack traces, several if several processes write, and their number.
    held: list[str] = attrs.field(factory=list)
    not_ended: int = 0

    def take(self, line: bytes) -> None:
        text = line[:LINE_LIMIT].decode("utf-8", "replace").rstrip("\r")
        if text.startswith(NOISE):
            return
        if text == TRACE:
            self.not_ended += 1
        elif not self.not_ended:
            self._write(text)
            return
        elif not text.startswith((" ", "\t")):
            self.not_ended -= 1
        self.held.append(text)
        if len(self.held) >= HELD_LINES:
            self.give_up()
        elif not self.not_ended:
            ends = (held for held in self.held if held != TRACE and not held.startswith((" ", "\t")))
            if all(end.startswith(BROKEN_OFF) for end in ends):
                self.held.clear()
            self.give_up()

    def give_up(self) -> None:
        for text in self.held:
            self._write(text)
        self.held.clear()
        self.not_ended = 0

    def _write(self, text: str) -> None:
        plain = "".join(sign if sign.isprintable() or sign == "\t" else repr(sign)[1:-1] for sign in text)
        os.write(self.target, plain.encode("utf-8", "replace") + b"\n")
