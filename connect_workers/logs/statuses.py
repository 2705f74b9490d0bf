"""The status log: states of connectors and tasks, and the topics that connectors use.

Kafka: ``KafkaStatusBackingStore``.

Callers do not wait for writes. Readers see records that are on disk.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from assignment_api.connect import ConnectorTaskId, ConnectorTaskIdFormatError
from assignor_lab.kafka.herder.statuses import ConnectorStatus, JobState, Status, comes_too_late, may_be_written
from connect_workers.storage import RecordLog, StorageError, StoredRecord

__all__ = ["Job", "StatusLog"]

_logger = logging.getLogger(__name__)

Job = str | ConnectorTaskId

_CONNECTOR, _TASK, _TOPIC = "status-connector-", "status-task-", "status-topic-"
_BETWEEN = ":connector-"


class StatusLog:
    """Statuses and used topics.

    For the event loop's thread.
    """

    def __init__(self, log: RecordLog) -> None:
        self._log = log
        self._connectors: dict[str, Status] = {}
        self._tasks: dict[str, dict[int, Status]] = {}
        self._topics: dict[str, dict[str, None]] = {}
        self._written_topics: set[tuple[str, str]] = set()
        log.subscribe(self._read)

    # --- reading -------------------------------------------------------------------------------------

    def connector(self, name: str) -> Status | None:
        return self._connectors.get(name)

    def tasks(self, connector: str) -> Mapping[int, Status]:
        """States of a connector's tasks, in the order in which they were first known."""
        return self._tasks.get(connector, {})

    def status(self, job: Job) -> Status | None:
        return self.tasks(job.connector).get(job.task) if isinstance(job, ConnectorTaskId) else self.connector(job)

    def connector_status(self, name: str, connector_type: str) -> ConnectorStatus | None:
        connector = self.connector(name)
        if connector is None:
            return None
        tasks = [status.instance(number) for number, status in self.tasks(name).items()]
        return ConnectorStatus(name, connector.instance(), tasks, connector_type)

    def jobs(self) -> list[Job]:
        tasks = [ConnectorTaskId(name, number) for name, numbers in self._tasks.items() for number in numbers]
        return [*self._connectors, *tasks]

    def topics(self, connector: str) -> list[str]:
        return sorted(self._topics.get(connector, {}))

    def connectors_with_topics(self) -> list[str]:
        return list(self._topics)

    # --- writing --------------------------------------------------------------------------------------

    def put(self, job: Job, status: Status) -> None:
        value = {
            "state": status.state,
            "trace": status.trace,
            "worker_id": status.worker_id,
            "generation": status.generation,
            "version": status.version,
        }
        self._append(_key(job), value)

    def put_safe(self, job: Job, status: Status) -> None:
        """Writes a status unless another worker of a later generation has written one."""
        if may_be_written(status, self.status(job)):
            self.put(job, status)

    def remove(self, job: Job) -> None:
        """Takes a status away (DESTROYED)."""
        self._append(_key(job), None)

    def add_topic(self, connector: str, topic: str, task: int, now_ms: int) -> None:
        if (connector, topic) in self._written_topics:
            return
        self._written_topics.add((connector, topic))
        value = {"topic": topic, "connector": connector, "task": task, "discoverTimestamp": now_ms}
        self._append(f"{_TOPIC}{topic}{_BETWEEN}{connector}", {"topic": value})

    def remove_topics(self, connector: str) -> None:
        for topic in self.topics(connector):
            self._written_topics.discard((connector, topic))
            self._append(f"{_TOPIC}{topic}{_BETWEEN}{connector}", None)

    async def flush(self) -> None:
        """Returns when everything that was written so far is known.

        Raises:
            StorageError: if it could not be written.
        """
        await self._log.write([])

    def _append(self, key: str, value: Any) -> None:
        try:
            # As in Kafka, the caller does not wait for a status. Writing is retried until it works.
            self._log.put([(key, value)])
        except StorageError as error:
            _logger.warning("status %s not written: %s", key, error)

    # --- reading --------------------------------------------------------------------------------------

    def _read(self, record: StoredRecord) -> None:
        key, value = record.key, record.value
        if key.startswith(_TOPIC):
            self._read_topic(key.removeprefix(_TOPIC), value)
        elif key.startswith(_CONNECTOR):
            self._read_connector(key.removeprefix(_CONNECTOR), value)
        elif key.startswith(_TASK):
            self._read_task(key.removeprefix(_TASK), value)

    def _read_topic(self, text: str, value: Any) -> None:
        topic, separator, connector = text.partition(_BETWEEN)
        if not separator:
            return
        if value is not None:
            self._topics.setdefault(connector, {})[topic] = None
            self._written_topics.add((connector, topic))
            return
        self._written_topics.discard((connector, topic))
        topics = self._topics.get(connector, {})
        topics.pop(topic, None)
        if not topics:
            self._topics.pop(connector, None)

    def _read_connector(self, name: str, value: Any) -> None:
        if value is None:
            self._connectors.pop(name, None)
            self._tasks.pop(name, None)
            return
        status = _status(value)
        if status is not None:
            self._connectors[name] = status

    def _read_task(self, text: str, value: Any) -> None:
        try:
            task = ConnectorTaskId.parse(text)
        except ConnectorTaskIdFormatError:
            return
        tasks = self._tasks.setdefault(task.connector, {})
        status = None if value is None else _status(value)
        if status is None:
            tasks.pop(task.task, None)
        elif not comes_too_late(status, tasks.get(task.task)):
            tasks[task.task] = status
        if not tasks:
            self._tasks.pop(task.connector, None)


def _key(job: Job) -> str:
    return f"{_TASK}{job}" if isinstance(job, ConnectorTaskId) else f"{_CONNECTOR}{job}"


def _status(value: Any) -> Status | None:
    if not isinstance(value, dict):
        return None
    state, worker, generation = value.get("state"), value.get("worker_id"), value.get("generation")
    if not (isinstance(state, str) and isinstance(worker, str) and isinstance(generation, int)):
        return None
    trace, version = value.get("trace"), value.get("version")
    return Status(
        JobState(state) if state in JobState.__members__ else state,
        worker,
        generation,
        trace if isinstance(trace, str) else None,
        version if isinstance(version, str) else None,
    )
