"""One folder, one recorder: two that write into one would each tell the other's samples and ends as their own."""

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
    """Keeps other recorders out of a folder, which is made if need be; what ends the process ends that, too.

    The folder itself is locked, so that no file lies in it for that. Where its file system has no locks, nobody is kept
    out.

    Args:
        folder: The folder; one that was made and stays empty is removed again.

    Raises:
        GroupUnusableError: if another recorder writes there.
        OutputFileError: if it cannot be made.
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
            pass  # some network file systems lock no folders
        yield
    finally:
        os.close(held)
        if is_made:
            with contextlib.suppress(OSError):
                folder.rmdir()
