"""Logs and topics on disk, which survive ``kill -9``."""

from assignor_lab.connect.storage.data_dir import DataDir
from assignor_lab.connect.storage.errors import DataDirLockedError, LogCorruptError, StorageError
from assignor_lab.connect.storage.record_log import LogRecord, RecordLog
from assignor_lab.connect.storage.topics import Partition, Topics, check_topic

__all__ = [
    "DataDir",
    "DataDirLockedError",
    "LogCorruptError",
    "LogRecord",
    "Partition",
    "RecordLog",
    "StorageError",
    "Topics",
    "check_topic",
]
