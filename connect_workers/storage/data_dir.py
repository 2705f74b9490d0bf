"""The data directory: its lock and its files.

::

    DIR/lock                        held while a process uses the directory
    DIR/config.log                  connectors, tasks, target states, restarts, session keys
    DIR/offsets.log                 how far sources and sinks are
    DIR/status.log                  statuses and topics in use
    DIR/cluster-id                  22 characters
    DIR/topics/NAME/PARTITION.log   records of a topic
    DIR/files/                      the files of connectors: nothing outside can be reached by them

Directories that are made here are open to their owner alone.

All logs have the frames of :mod:`connect_workers.storage.frames`. A frame of the first three is a JSON list of
``[offset, key, value]``, a frame of a topic one of ``[offset, key, value, timestamp]``.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import os
import re
import uuid
from pathlib import Path

from assignment_api.connectors import PathNotAllowedError
from assignor_lab.documents.durable import make_private, write_durably
from assignor_lab.documents.errors import OutputFileError
from connect_workers.storage.errors import DataDirLockedError, StorageError

__all__ = ["DataDir"]

_CLUSTER_ID = re.compile(r"[A-Za-z0-9_-]{22}\Z")


class DataDir:
    """A data directory in use by this process.

    Raises:
        DataDirLockedError: if another process uses it.
        StorageError: if it cannot be made or written to.
    """

    def __init__(self, path: Path) -> None:
        try:
            make_private(path)
            self.path = path.resolve(strict=True)
            self.topics = self._made("topics")
            self.files = self._made("files")
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror or error}: name a directory to write to") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._lock, 100, 0).decode("ascii", "replace").strip()
            os.close(self._lock)
            raise DataDirLockedError(
                f"{path}: in use by process {holder or 'of unknown number'}: end it, or name another directory"
            ) from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)

    def _made(self, name: str) -> Path:
        made = self.path / name
        make_private(made)
        # Earlier versions left it open to other users. It may be shared by its owner.
        with contextlib.suppress(PermissionError):
            made.chmod(0o700)
        return made.resolve(strict=True)

    def log(self, name: str) -> Path:
        return self.path / f"{name}.log"

    def file(self, path: str) -> Path:
        """A file for connectors; a relative path starts in ``files``, and symbolic links are followed first.

        Raises:
            PathNotAllowedError: if it is not in ``files``.
        """
        if "\0" in path or not path.strip():
            raise PathNotAllowedError(f"{path!r:.120} is no path of a file")
        try:
            resolved = (self.files / path).resolve()
        except (OSError, RuntimeError) as error:
            raise PathNotAllowedError(f"{path!r:.120} cannot be followed: {error}") from error
        if resolved == self.files or not resolved.is_relative_to(self.files):
            raise PathNotAllowedError(
                f"{path!r:.120} is outside the directory of connectors' files: use a path in {self.files}, or one "
                "relative to it"
            )
        return resolved

    def cluster_id(self) -> str:
        """The directory's own id, 22 characters as Kafka's clusters have them; made up at first use.

        Raises:
            StorageError: if it cannot be kept.
        """
        path = self.path / "cluster-id"
        try:
            if path.is_file() and _CLUSTER_ID.match(text := path.read_text(encoding="ascii", errors="replace").strip()):
                return text
            made = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
            write_durably(path, f"{made}\n".encode())
        except OutputFileError as error:
            raise StorageError(str(error)) from error
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror or error}") from error
        return made

    def close(self) -> None:
        os.close(self._lock)
