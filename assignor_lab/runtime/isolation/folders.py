"""Folders that plugins have worked in: removed whatever a plugin made of them, in bounded time, and nothing else is."""

from __future__ import annotations

import contextlib
import os
import secrets
from itertools import count
from time import monotonic

__all__ = ["remove_folder"]

#: Entries between two looks at the clock.
_LOOK = 100


def remove_folder(folder: str, seconds: float) -> bool:
    """Removes a folder with everything in it; links are not followed.

    Args:
        folder: The folder; nobody works in it any more.
        seconds: Time after which what is left stays.

    Returns:
        Whether nothing is left.
    """
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
            # As deep as it goes, paths stay short: folders within folders are moved up.
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
    """Removes a file; of a folder, answers where it is now: in its place, or moved to ``target``."""
    with contextlib.suppress(OSError):
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)  # noqa: PTH108
            return []
        if target is None:
            return [entry.path]
        # Whoever moves a folder has to be allowed to write in it.
        os.chmod(entry.path, 0o700)  # noqa: PTH101
        os.rename(entry.path, target)  # noqa: PTH104
        return [target]
    return []
