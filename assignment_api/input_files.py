"""Opens files that a user names, without waiting for a missing writer."""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import time
from os import PathLike
from pathlib import Path

__all__ = ["PATIENCE_S", "open_input", "read_input"]

#: Seconds to wait for a pipe's writer.
PATIENCE_S = 2.0
_PAUSE_S = 0.02
_BLOCK = 65_536


def open_input(path: str | PathLike[str]) -> io.BufferedReader:
    """Open a file; a pipe is read while a process has it open for writing.

    Of devices, only the null device and the terminal of standard input are allowed: others do not end.

    Raises:
        OSError: if it is missing, unreadable, a directory, another device, a socket, or a pipe without a writer.
            ``strerror`` has the reason.
        ValueError: if no file can have such a name.
    """
    if not hasattr(os, "O_NONBLOCK"):
        # Windows has no pipes in folders.
        return Path(path).open("rb")
    try:
        # Opening would wait for a pipe's writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "is a socket or a device, not a file", os.fspath(path)) from None
        raise
    try:
        mode = os.fstat(descriptor)
        first = _first_of_pipe(descriptor, path) if stat.S_ISFIFO(mode.st_mode) else b""
        if stat.S_ISDIR(mode.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if stat.S_ISBLK(mode.st_mode) or (stat.S_ISCHR(mode.st_mode) and not _ends(mode)):
            raise OSError(errno.EINVAL, "is a device, not a file", os.fspath(path))
        os.set_blocking(descriptor, True)
        file = io.FileIO(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise
    return io.BufferedReader(_Begun(first, file) if first else file)


def read_input(path: str | PathLike[str]) -> bytes:
    """A file's bytes; errors as :func:`open_input`."""
    with open_input(path) as stream:
        return stream.read()


def _ends(found: os.stat_result) -> bool:
    if found.st_rdev == os.stat(os.devnull).st_rdev:  # noqa: PTH116 - beside fstat
        return True
    try:
        return found.st_rdev == os.fstat(0).st_rdev
    except OSError:
        return False


def _first_of_pipe(descriptor: int, path: str | PathLike[str]) -> bytes:
    """First bytes; empty if a writer has not written yet, or has gone."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            first = os.read(descriptor, _BLOCK)
        except BlockingIOError:
            return b""
        if first or poll.poll(0):
            return first
        if time.monotonic() > end:
            raise OSError(errno.EPIPE, "is a pipe that no process writes to", os.fspath(path))
        time.sleep(_PAUSE_S)


class _Begun(io.RawIOBase):
    def __init__(self, first: bytes, rest: io.FileIO) -> None:
        self._first, self._rest = first, rest

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._rest.fileno()

    def readinto(self, buffer: object) -> int | None:
        view = memoryview(buffer)  # type: ignore[arg-type]
        if self._first:
            part, self._first = self._first[: len(view)], self._first[len(view) :]
            view[: len(part)] = part
            return len(part)
        return self._rest.readinto(view)

    def close(self) -> None:
        self._rest.close()
        super().close()
