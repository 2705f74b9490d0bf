"""Errors of the data directory."""

from __future__ import annotations

from assignor_lab.connect.contract import HerderError

__all__ = ["DataDirLockedError", "LogCorruptError", "StorageError"]


class StorageError(HerderError):
    """Something could not be written or read."""


class LogCorruptError(StorageError):
    """A log has good records behind bad bytes: that is no torn end, somebody or something has changed the file."""


class DataDirLockedError(StorageError):
    """Another process uses the data directory."""
