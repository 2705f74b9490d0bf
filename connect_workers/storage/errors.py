"""Errors of the data directory."""

from __future__ import annotations

from connect_workers.contract import HerderError

__all__ = ["DataDirLockedError", "LogCorruptError", "StorageError"]


class StorageError(HerderError):
    """Something could not be written or read."""


class LogCorruptError(StorageError):
    """A log has good records behind bad bytes: that is no torn end, the file was changed."""


class DataDirLockedError(StorageError):
    """Another process uses the data directory."""
