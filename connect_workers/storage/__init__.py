"""Logs and topics on disk, which survive ``kill -9``."""

from connect_workers.storage.data_dir import DataDir
from connect_workers.storage.errors import DataDirLockedError, LogCorruptError, StorageError
from connect_workers.storage.record_log import RecordLog, StoredRecord
from connect_workers.storage.topics import Partition, Topics, check_topic

__all__ = [
    "DataDir",
    "DataDirLockedError",
    "LogCorruptError",
    "StoredRecord",
    "Partition",
    "RecordLog",
    "StorageError",
    "Topics",
    "check_topic",
]
