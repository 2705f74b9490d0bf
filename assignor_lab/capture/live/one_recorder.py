"""A lock: two recorders would record each other's samples and ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from assignor_lab.capture.live.errors import GroupUnusableError
from assignor_lab.documents.durable import naming_failures

__all__ = ["alone_in"]


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Locks a folder against other recorders; the lock ends with the process.

    The lock is on the folder itself, so it needs no file. On a file system without locks it does nothing. A new folder
    that stays empty is removed.
    """
    is_made = not folder.exists()
    with naming_failures(folder):
        folder.mkdir(parents=True, exist_ok=True)
        held = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GroupUnusableError(
                f"{folder}: another assignor record writes there: stop it first, or name another folder with --out"
            ) from None
        except OSError:
            pass  # some network file systems cannot lock folders
        yield
    finally:
        os.close(held)
        if is_made:
            with contextlib.suppress(OSError):
                folder.rmdir()
