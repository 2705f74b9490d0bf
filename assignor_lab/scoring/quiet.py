"""Keeps what the JVM and the Python workers say on standard error readable.

The JVM inherits its standard error for life, and the workers inherit theirs from it: so for the moment of its start a
pipe stands there, and a thread copies what comes through it, without the lines that every Spark prints and without
anything that could steer a terminal (a plugin may print what it likes).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["filtered_stderr"]

#: Beginnings of lines that say nothing about the run.
NOISE = (
    "WARNING: Using incubator modules",
    "Setting default log level to",
    "To adjust logging level use",
    "WARNING: A terminally deprecated method in sun.misc.Unsafe",
    "WARNING: sun.misc.Unsafe",
    "WARNING: Please consider reporting this to the maintainers",
)
#: Longest line that is copied, in bytes; the rest of it is left out.
LINE_LIMIT = 4_000
_STDERR = 2


@contextmanager
def filtered_stderr() -> Iterator[None]:
    """Processes that are started inside write to standard error through a filter, also after the block."""
    reading, writing = os.pipe()
    kept = os.dup(_STDERR)
    threading.Thread(target=_copy, args=(reading, kept), daemon=True, name="assignor-stderr").start()
    sys.stderr.flush()
    os.dup2(writing, _STDERR)
    os.close(writing)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, _STDERR)


def _copy(reading: int, target: int) -> None:
    with open(reading, "rb", buffering=0) as source:
        rest = b""
        too_long = False
        while block := source.read(65_536):
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                if not too_long:
                    _write(target, line)
                too_long = False
            if len(rest) > LINE_LIMIT:
                if not too_long:
                    _write(target, rest)
                too_long, rest = True, b""
        if rest and not too_long:
            _write(target, rest)


def _write(target: int, line: bytes) -> None:
    text = line[:LINE_LIMIT].decode("utf-8", "replace").rstrip("\r")
    if not text.startswith(NOISE):
        plain = "".join(sign if sign.isprintable() or sign == "\t" else repr(sign)[1:-1] for sign in text)
        os.write(target, plain.encode("utf-8", "replace") + b"\n")
