"""Durable writes: a file is there, complete, or what had its name is as it was, also after a loss of power."""

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

#: The name under which the standard output is written.
STANDARD_OUTPUT = "-"
#: Pattern of the hidden files beside their targets that a killed process leaves behind.
UNFINISHED = ".*.tmp"

_MOST_NAME = 40


def sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)  # noqa: TID251 - this is the one place
    finally:
        os.close(descriptor)


def make_private(directory: Path) -> None:
    """Makes a directory, and each missing one above it, open to its owner alone."""
    if not directory.is_dir():
        make_private(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)


#: What to do where the fault lies in what is asked for, and not in the name.
_REMEDIES = {
    errno.ENOSPC: "make room, and try again",
    errno.EDQUOT: "make room, and try again",
    errno.EFBIG: "allow larger files (ulimit -f), and try again",
}


@contextmanager
def naming_failures(path: str | PathLike[str]) -> Iterator[None]:
    """Turns what the operating system says in the block into an error that names the file as the user did.

    Raises:
        OutputFileError: for an ``OSError``, but not for a pipe whose reader has gone or a missing stream: the command
            knows what to say of those.
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
    """An empty file beside ``path``, which takes its place when the block ends without an exception.

    The content is on disk before the name is, and the name is on disk when this returns. The mode of an old file is
    kept, and a link is followed: what it names is replaced.

    Args:
        path: The file; its folder must exist.

    Yields:
        Where to write the content; closed again when the block ends.

    Raises:
        OutputFileError: if the file cannot be made or replaced. What the block raises passes.
    """
    final = Path(os.path.realpath(path))
    temporary = final.parent / f".{final.name[:_MOST_NAME]}.{secrets.token_hex(6)}.tmp"
    try:
        with naming_failures(path):
            # Nobody may read meanwhile what nobody else could read before.
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
    """Adds to the end of a file, which is made if need be; what is added is on disk when this returns.

    A process that is killed meanwhile may leave the beginning of ``content`` there: who reads lines takes those that
    end.

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
    """Writes a whole file, in the place of what had its name.

    Raises:
        OutputFileError: if it cannot be written.
    """
    with replacing(path) as part, naming_failures(path):
        part.write_bytes(content)
