"""Temporary folders, locked by their process, and removed by a later process if that process was killed.

A plugin may have worked in a folder, so removal is bounded in time and follows no link.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from time import monotonic, time

import attrs

__all__ = ["HeldFolder", "held_folder", "remove_folder"]

#: File with the owner's lock.
_LOCK = ".held"
#: Seconds after which a folder with a free lock counts as abandoned; a younger one may be under construction.
_YOUNG_SECONDS = 60
#: Seconds for the removal of one abandoned folder, and the most removals of one process.
_SECONDS, _MOST = 2.0, 20

#: Entries between two readings of the clock.
_LOOK = 100


@attrs.frozen
class HeldFolder:
    """A temporary folder of this process, until it is released or the process ends."""

    path: str
    _lock: int

    @classmethod
    def make(cls, prefix: str) -> HeldFolder:
        """Creates a folder, and removes abandoned ones with the same prefix.

        Args:
            prefix: Beginning of the folder's name in the system's folder for temporary files.

        Raises:
            OSError: if it cannot be created.
        """
        _remove_abandoned(prefix)
        path = tempfile.mkdtemp(prefix=prefix)
        lock = os.open(f"{path}/{_LOCK}", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return cls(path, lock)

    def release(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._lock)


@contextlib.contextmanager
def held_folder(prefix: str) -> Iterator[Path]:
    """Yields a temporary folder and removes it at the end; errors as of :meth:`HeldFolder.make`."""
    folder = HeldFolder.make(prefix)
    try:
        yield Path(folder.path)
    finally:
        remove_folder(folder.path, _SECONDS * 5)
        folder.release()


def _remove_abandoned(prefix: str) -> None:
    found = sorted(Path(tempfile.gettempdir()).glob(f"{prefix}*/{_LOCK}"))[:_MOST]
    for lock in found:
        with contextlib.suppress(OSError):
            state = lock.parent.lstat()
            if state.st_uid != os.geteuid() or lock.parent.is_symlink() or time() - state.st_mtime < _YOUNG_SECONDS:
                continue
            handle = os.open(lock, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_folder(str(lock.parent), _SECONDS)
            finally:
                os.close(handle)


def remove_folder(folder: str, seconds: float) -> bool:
    """Removes a folder with its content; links are not followed."""
    end = monotonic() + seconds
    with contextlib.suppress(OSError):
        if os.path.islink(folder):  # noqa: PTH114 - a path object for each entry costs more
            os.unlink(folder)  # noqa: PTH108
    if not os.path.isdir(folder):  # noqa: PTH112
        return not os.path.lexists(folder)
    moved = (os.path.join(folder, f"{secrets.token_hex(8)}-{number}") for number in count())  # noqa: PTH118
    waiting = [folder]
    emptied: list[str] = []
    while waiting:
        path = waiting.pop()
        emptied.append(path)
        with contextlib.suppress(OSError):
            # Inner folders are moved up, so that paths stay short at any depth.
            os.chmod(path, 0o700)  # noqa: PTH101
            with os.scandir(path) as entries:
                for place, entry in enumerate(entries):
                    if place % _LOOK == 0 and monotonic() > end:
                        return False
                    waiting += _taken_apart(entry, None if path == folder else next(moved))
        if monotonic() > end:
            return False
    for path in reversed(emptied):
        with contextlib.suppress(OSError):
            os.rmdir(path)  # noqa: PTH106
    return not os.path.lexists(folder)


def _taken_apart(entry: os.DirEntry[str], target: str | None) -> list[str]:
    """Removes a file; returns the present path of a folder: unchanged, or moved to ``target``."""
    with contextlib.suppress(OSError):
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)  # noqa: PTH108
            return []
        if target is None:
            return [entry.path]
        # Moving a folder needs the right to write in it.
        os.chmod(entry.path, 0o700)  # noqa: PTH101
        os.rename(entry.path, target)  # noqa: PTH104
        return [target]
    return []
