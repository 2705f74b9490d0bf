"""Logs, topics, offsets and statuses that all workers of a cluster share, as they would share Kafka's topics."""

from __future__ import annotations

import asyncio
from pathlib import Path

from assignor_lab.connect.clock import Clock
from assignor_lab.connect.logs.offsets import OffsetLog
from assignor_lab.connect.logs.run_ledger import RunLedger
from assignor_lab.connect.logs.statuses import StatusLog
from assignor_lab.connect.storage import DataDir, RecordLog, StorageError, Topics

__all__ = ["ClusterLogs"]


class ClusterLogs:
    """Opens a data directory.

    Args:
        path: The directory.
        offset_flush_interval_ms: ``offset.flush.interval.ms``.

    Raises:
        StorageError: if it cannot be used.
    """

    def __init__(self, path: Path, offset_flush_interval_ms: int = 1_000) -> None:
        self.clock = Clock()
        self.ledger = RunLedger()
        self.offset_flush_interval_ms = offset_flush_interval_ms
        self.data = DataDir(path)
        #: All of them.
        self.logs: list[RecordLog] = []
        try:
            self.config = self._log("config")
            self.offsets = OffsetLog(self._log("offsets"))
            self.statuses = StatusLog(self._log("status"))
            self.topics = Topics(self.data.topics)
            #: What ``GET /`` calls ``kafka_cluster_id``; it stays with the directory.
            self.cluster_id = self.data.cluster_id()
        except BaseException:
            self.close()
            raise

    def _log(self, name: str) -> RecordLog:
        log = RecordLog(self.data.log(name))
        self.logs.append(log)
        return log

    def start(self) -> None:
        """Begins to write; call it on the event loop that the readers are on."""
        loop = asyncio.get_running_loop()
        for log in self.logs:
            log.start(loop)

    def failures(self) -> list[StorageError]:
        """Why logs cannot be written at present: for each that cannot, its last failure."""
        return [log.failure for log in self.logs if log.failure is not None]

    def close(self) -> None:
        """Writes what is waiting and lets others use the directory. Tasks must have ended."""
        for log in self.logs:
            log.close()
        if hasattr(self, "topics"):
            self.topics.close()
        self.data.close()
