"""Logs, topics, offsets and statuses that all workers of a cluster share, as they would share Kafka's topics."""

from __future__ import annotations

import asyncio
from pathlib import Path

from connect_workers.clock import Clock
from connect_workers.logs.offsets import OffsetLog
from connect_workers.logs.run_ledger import RunLedger
from connect_workers.logs.statuses import StatusLog
from connect_workers.storage import DataDir, RecordLog, StorageError, Topics

__all__ = ["ClusterLogs"]


class ClusterLogs:
    """Opens a data directory.

    Raises:
        StorageError: if it cannot be used.
    """

    def __init__(self, path: Path, offset_flush_interval_ms: int = 1_000) -> None:
        self.clock = Clock()
        self.ledger = RunLedger()
        self.offset_flush_interval_ms = offset_flush_interval_ms
        self.data = DataDir(path)
        self.logs: list[RecordLog] = []
        try:
            self.config = self._log("config")
            self.offsets = OffsetLog(self._log("offsets"))
            self.statuses = StatusLog(self._log("status"))
            self.topics = Topics(self.data.topics)
            #: ``kafka_cluster_id`` of ``GET /``; it stays with the directory.
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
        """Writes waiting records and releases the directory. Tasks must have ended."""
        for log in self.logs:
            log.close()
        if hasattr(self, "topics"):
            self.topics.close()
        self.data.close()
