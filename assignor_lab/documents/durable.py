"""Files that are there, whole, or not there at all, also after a loss of power."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

__all__ = ["sync", "written_durably"]


def sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def written_durably(path: Path, write: Callable[[Path], object]) -> None:
    """Makes ``path``: it takes its name when its content is on disk, and its name is on disk when this returns.

    Args:
        path: The file.
        write: Writes the content to the path that it is given, ``path`` with ``.part`` at its end.

    Raises:
        OSError: if it cannot be written.
    """
    part = path.with_name(path.name + ".part")
    write(part)
    sync(part)
    part.replace(path)
    sync(path.parent)
