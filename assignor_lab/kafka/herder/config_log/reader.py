"""Reader of the config log: the effect of each record on a worker's knowledge.

Kafka: ``ClusterConfigState``, ``KafkaConfigBackingStore``.

A reader of a compacted log must get the same result as a reader of every record. Two things are needed for that: the
log's end, if its last records had removed keys; and commits in front of their connector, if the connector was
configured again since. Creating a connector first removes the commit of an earlier connector of its name, so that such
a commit never belongs to another connector.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import attrs

from assignment_api.connect import ConfiguredJobs, ConnectorTaskId, ConnectorTaskIdFormatError
from assignor_lab.kafka.herder.config_log.records import (
    COMMIT,
    CONNECTOR,
    FENCING,
    LOGGER,
    RESTART,
    SESSION_KEY,
    TARGET,
    TASK,
    Config,
    TargetState,
    without_nulls,
)
from assignor_lab.kafka.herder.restarts import RestartRequest
from assignor_lab.kafka.herder.session_keys import SessionKey

__all__ = ["ConfigListener", "ConfigReader", "ConfigSnapshot", "ConfigLogRecord", "snapshot_of"]

#: A larger number of tasks counts as damage.
_MOST_TASKS = 1_000_000


class ConfigLogRecord(Protocol):
    """A record of the log."""

    @property
    def offset(self) -> int: ...

    @property
    def key(self) -> str: ...

    @property
    def value(self) -> Any: ...


@attrs.frozen(eq=False)
class ConfigSnapshot:
    """A worker's knowledge of the config log.

    Immutable.

    Args:
        connectors: Name to configuration.
        task_counts: Name to the number in its last commit.
        task_configs_by_id: Task to configuration, including those left over from larger commits.
        target_states: Name to target state, if one was written.
        inconsistent: Names whose last commit lacked some task's configuration: they have no tasks.
        applied: Name to the effective configuration at its last complete commit.
        fencing: Name to the number of tasks in its last fencing record.
        session_key: The key, or ``None``: there is none yet.
    """

    offset: int
    connectors: Mapping[str, Config]
    task_counts: Mapping[str, int]
    task_configs_by_id: Mapping[ConnectorTaskId, Mapping[str, str]]
    target_states: Mapping[str, TargetState]
    inconsistent: frozenset[str]
    applied: Mapping[str, Config]
    fencing: Mapping[str, int]
    session_key: SessionKey | None

    def task_count(self, connector: str) -> int:
        """Number of a connector's tasks; 0 while they are inconsistent."""
        return 0 if connector in self.inconsistent else self.task_counts.get(connector, 0)

    def tasks(self, connector: str) -> tuple[ConnectorTaskId, ...]:
        return tuple(ConnectorTaskId(connector, number) for number in range(self.task_count(connector)))

    def task_configs(self, connector: str) -> list[Mapping[str, str]]:
        return [self.task_configs_by_id.get(task, {}) for task in self.tasks(connector)]

    def target_state(self, connector: str) -> TargetState:
        return self.target_states.get(connector, TargetState.STARTED)

    def jobs(self) -> ConfiguredJobs:
        return ConfiguredJobs({name: self.task_count(name) for name in self.connectors})

    def knows(self, job: str | ConnectorTaskId) -> bool:
        if isinstance(job, ConnectorTaskId):
            return job.connector in self.connectors and job.task < self.task_count(job.connector)
        return job in self.connectors


class ConfigListener(Protocol):
    """Listener to new records; never called for records from before its start (Kafka: ``KafkaConfigBackingStore``)."""

    def on_connector_config(self, connector: str) -> None: ...

    def on_connector_removed(self, connector: str) -> None: ...

    def on_task_configs(self, connector: str, tasks: Sequence[ConnectorTaskId]) -> None:
        """A commit was read; ``tasks``: tasks with a configuration that it made effective."""

    def on_target_state(self, connector: str) -> None: ...

    def on_restart_request(self, request: RestartRequest) -> None: ...

    def on_session_key(self, key: SessionKey) -> None: ...

    def on_logger_level(self, namespace: str, level: str) -> None:
        """A logger's level must change on all workers."""


class ConfigReader:
    """Reads the config log for one worker."""

    def __init__(self, listener: ConfigListener | None = None) -> None:
        self._waiting_listener = listener
        self._listener: ConfigListener | None = None
        self._started = False
        self._connectors: dict[str, Config] = {}
        self._counts: dict[str, int] = {}
        self._task_configs: dict[ConnectorTaskId, Mapping[str, str]] = {}
        self._deferred: dict[str, dict[ConnectorTaskId, Mapping[str, str]]] = {}
        self._targets: dict[str, TargetState] = {}
        self._inconsistent: set[str] = set()
        self._applied: dict[str, Config] = {}
        self._fencing: dict[str, int] = {}
        #: Commits in front of their connectors, with their task configurations: the log is compacted.
        self._early: dict[str, tuple[int, dict[ConnectorTaskId, Mapping[str, str]]]] = {}
        self._key: SessionKey | None = None
        self._snapshot: ConfigSnapshot | None = None
        self.offset = -1

    def reach(self, end: int) -> None:
        """Finish reading up to ``end``, the position after the last record."""
        if end > 0:
            self.offset = max(self.offset, end)

    def start(self) -> None:
        self._listener, self._started = self._waiting_listener, True
        self._early.clear()

    def snapshot(self) -> ConfigSnapshot:
        """Knowledge so far; the same object until another record is read."""
        if self._snapshot is None or self._snapshot.offset != self.offset:
            self._snapshot = ConfigSnapshot(
                self.offset, dict(self._connectors), dict(self._counts), dict(self._task_configs),
                dict(self._targets), frozenset(self._inconsistent), dict(self._applied), dict(self._fencing), self._key,
            )  # fmt: skip
        return self._snapshot

    def read(self, record: ConfigLogRecord) -> None:
        """Take the next record; a foreign one only moves the position."""
        self.offset = record.offset + 1
        key, value = record.key, record.value
        if value is not None and not isinstance(value, dict):
            return
        # The order of these tests is Kafka's.
        if key.startswith(TARGET):
            self._read_target(key.removeprefix(TARGET), value)
        elif key.startswith(CONNECTOR):
            self._read_connector(key.removeprefix(CONNECTOR), value)
        elif key.startswith(TASK):
            self._read_task(key.removeprefix(TASK), value)
        elif key.startswith(COMMIT):
            self._read_commit(key.removeprefix(COMMIT), value)
        elif key.startswith(RESTART):
            self._read_restart(key.removeprefix(RESTART), value)
        elif key.startswith(FENCING):
            self._read_fencing(key.removeprefix(FENCING), value)
        elif key == SESSION_KEY:
            self._read_key(value)
        elif key.startswith(LOGGER) and self._listener is not None and value is not None:
            level = value.get("level")
            if isinstance(level, str):
                self._listener.on_logger_level(key.removeprefix(LOGGER), level)

    def _read_target(self, name: str, value: Mapping[str, Any] | None) -> None:
        before = self._targets.get(name)
        if value is None:
            self._targets.pop(name, None)
            if name in self._connectors:
                self._targets[name] = TargetState.STARTED
            return
        text = value.get("state.v2") or value.get("state")
        if not isinstance(text, str) or text not in TargetState.__members__:
            return
        self._targets[name] = TargetState[text]
        if self._listener is not None and self._targets[name] is not before and name in self._connectors:
            self._listener.on_target_state(name)

    def _read_connector(self, name: str, value: Mapping[str, Any] | None) -> None:
        if value is None:
            self._connectors.pop(name, None)
            self._forget_tasks(name)
            self._deferred.pop(name, None)
            self._early.pop(name, None)
            self._applied.pop(name, None)
            if self._listener is not None:
                self._listener.on_connector_removed(name)
            return
        properties = _properties(value)
        if properties is None:
            return
        self._connectors[name] = properties
        self._targets.setdefault(name, TargetState.STARTED)
        if name in self._early:
            self._put_into_force(name, *self._early.pop(name))
            # The connector configuration of these tasks is no longer known.
            self._applied.pop(name, None)
        if self._listener is not None:
            self._listener.on_connector_config(name)

    def _forget_tasks(self, name: str) -> None:
        self._counts.pop(name, None)
        self._inconsistent.discard(name)
        for task in [task for task in self._task_configs if task.connector == name]:
            del self._task_configs[task]

    def _read_task(self, text: str, value: Mapping[str, Any] | None) -> None:
        properties = None if value is None else _properties(value)
        if properties is None:
            return
        config = without_nulls(properties)
        try:
            task = ConnectorTaskId.parse(text)
        except ConnectorTaskIdFormatError:
            return
        self._deferred.setdefault(task.connector, {})[task] = config

    def _read_commit(self, name: str, value: Mapping[str, Any] | None) -> None:
        deferred = self._deferred.pop(name, {})
        count = _count(value, "tasks")
        if name not in self._connectors or count is None:
            # The connector was removed, or comes later in the log.
            self._forget_tasks(name)
            self._early.pop(name, None)
            if count is not None and not self._started:
                self._early[name] = (count, deferred)
            return
        updated = self._put_into_force(name, count, deferred)
        if self._listener is not None:
            self._listener.on_task_configs(name, updated)

    def _put_into_force(
        self, name: str, count: int, deferred: Mapping[ConnectorTaskId, Mapping[str, str]]
    ) -> list[ConnectorTaskId]:
        self._counts[name] = count
        if not all(ConnectorTaskId(name, number) in deferred for number in range(count)):
            self._inconsistent.add(name)
            return []
        self._task_configs.update(deferred)
        self._inconsistent.discard(name)
        self._applied[name] = self._connectors[name]
        return list(deferred)

    def _read_restart(self, name: str, value: Mapping[str, Any] | None) -> None:
        if self._listener is not None and value is not None:
            only_failed, include_tasks = value.get("only-failed"), value.get("include-tasks")
            self._listener.on_restart_request(RestartRequest(name, only_failed is True, include_tasks is True))

    def _read_fencing(self, name: str, value: Mapping[str, Any] | None) -> None:
        count = _count(value, "task-count")
        if count is not None:
            self._fencing[name] = count

    def _read_key(self, value: Mapping[str, Any] | None) -> None:
        if value is None:
            return
        text, algorithm, created = value.get("key"), value.get("algorithm"), value.get("creation-timestamp")
        if not (isinstance(text, str) and isinstance(algorithm, str) and isinstance(created, int)):
            return
        try:
            self._key = SessionKey(base64.b64decode(text, validate=True), algorithm, created)
        except binascii.Error:
            return
        if self._listener is not None:
            self._listener.on_session_key(self._key)


def _count(value: Mapping[str, Any] | None, key: str) -> int | None:
    count = None if value is None else value.get(key)
    return count if type(count) is int and 0 <= count <= _MOST_TASKS else None


def _properties(value: Mapping[str, Any]) -> Config | None:
    properties = value.get("properties")
    if not isinstance(properties, dict) or not all(
        item is None or isinstance(item, str) for item in properties.values()
    ):
        return None
    return properties


def snapshot_of(records: Iterable[ConfigLogRecord], end: int = 0) -> ConfigSnapshot:
    """A worker's knowledge after these records, the remaining ones of a log up to ``end``."""
    reader = ConfigReader()
    for record in records:
        reader.read(record)
    reader.reach(end)
    return reader.snapshot()
