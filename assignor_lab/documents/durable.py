"""Durable writes: a new file is complete, or the old one is unchanged, also after a loss of power."""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from assignor_lab.documents.errors import OutputFileError, printable

__all__ = [
    "STANDARD_OUTPUT",
    "UNFINISHED",
    "append_durably",
    "make_private",
    "naming_failures",
    "replacing",
    "sync",
    "write_durably",
]

STANDARD_OUTPUT = "-"
#: Hidden files beside their targets, which a killed process leaves behind.
UNFINISHED = ".*.tmp"

_MOST_NAME = 40


def sync(path: Path) -> None:
    """Waits until a file, or a folder's list of names, is on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)  # noqa: TID251 - this is the one place
    finally:
        os.close(descriptor)


def make_private(directory: Path) -> None:
    """Creates a directory and missing parents, accessible only to the owner."""
    if not directory.is_dir():
        make_private(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)


#: Remedies for faults of the request rather than the name.
_REMEDIES = {
    errno.ENOSPC: "make room, and try again",
    errno.EDQUOT: "make room, and try again",
    errno.EFBIG: "allow larger files (ulimit -f), and try again",
}


@contextmanager
def naming_failures(path: str | PathLike[str]) -> Iterator[None]:
    """Errors of the operating system get the user's name of the file.

    Raises:
        OutputFileError: for an ``OSError``, except for a pipe without reader and a missing stream, which the command
            handles.
    """
    try:
        yield
    except (BrokenPipeError, io.UnsupportedOperation, OutputFileError):
        raise
    except OSError as error:
        name = "standard output" if os.fspath(path) == STANDARD_OUTPUT else printable(os.fspath(path), 1_000)
        remedy = _REMEDIES.get(error.errno or 0, "name a file in a folder that exists and can be written")
        raise OutputFileError(f"{name}: cannot be written: {error.strerror or error}; {remedy}") from error


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[Path]:
    """An empty file beside ``path``, which replaces it when the block ends without an exception.

    The content is on disk before the name, and the name when this returns. The mode of an old file is kept. A link's
    target is replaced.

    Raises:
        OutputFileError: if the file cannot be created or replaced. Exceptions of the block pass.
    """
    final = Path(os.path.realpath(path))
    temporary = final.parent / f".{final.name[:_MOST_NAME]}.{secrets.token_hex(6)}.tmp"
    try:
        with naming_failures(path):
            # The temporary file is as private as the old one.
            mode = stat.S_IMODE(final.stat().st_mode) if final.exists() else None
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600))
        yield temporary
        with naming_failures(path):
            if mode is not None:
                temporary.chmod(mode)
            sync(temporary)
            temporary.replace(final)
            sync(final.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def append_durably(path: str | PathLike[str], content: bytes) -> None:
    """Appends to a file, created if necessary; the content is on disk when this returns.

    A killed process may leave the beginning of ``content``: readers use only complete lines.

    Raises:
        OutputFileError: if it cannot be written.
    """
    target = Path(path)
    with naming_failures(path):
        is_new = not target.exists()
        with target.open("ab") as stream:
            stream.write(content)
        sync(target)
        if is_new:
            sync(target.parent)


def write_durably(path: str | PathLike[str], content: bytes) -> None:
    """Replaces a whole file.

    Raises:
        OutputFileError: if it cannot be written.
    """
    with replacing(path) as part, naming_failures(path):
        part.write_bytes(content)
