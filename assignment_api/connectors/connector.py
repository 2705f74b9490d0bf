"""Base classes of a connector for ``assignor connect serve``. Kafka: ``Connector``, ``Task`` and related classes.

All methods are synchronous. Those of a connector are called one after the other on its own thread, and so are those of
a task. No two objects share a thread at the same time.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from assignment_api.connectors.definitions import ConfigDef
from assignment_api.connectors.records import SinkRecord, SourceRecord

__all__ = [
    "Connector",
    "ConnectorContext",
    "SinkConnector",
    "SinkTask",
    "SourceConnector",
    "SourceTask",
    "Task",
    "TaskContext",
]


class ConnectorContext(Protocol):
    """A connector's access to its worker."""

    @property
    def name(self) -> str:
        """The connector's name."""

    def file(self, path: str) -> Path:
        """A file in the directory to which connectors are confined; symbolic links are resolved before the check.

        Raises:
            PathNotAllowedError: if the path leads out of it.
        """

    def request_task_reconfiguration(self) -> None:
        """Request another call of ``task_configs``."""

    def raise_error(self, error: Exception) -> None:
        """Set the connector to FAILED, from any thread."""


class TaskContext(Protocol):
    """A task's access to its worker."""

    @property
    def name(self) -> str:
        """Name of its connector."""

    @property
    def number(self) -> int:
        """The task's number, from 0."""

    @property
    def stopping(self) -> bool:
        """True if the task must end or pause."""

    def wait(self, seconds: float) -> bool:
        """Wait at most ``seconds`` until the task must end or pause; returns whether it must."""

    def file(self, path: str) -> Path:
        """As :meth:`ConnectorContext.file`."""

    def offset(self, source_partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The committed offset of a source partition, or ``None``; for sources only."""


class Task(abc.ABC):
    """A task. Kafka: ``Task``."""

    context: TaskContext

    def start(self, config: Mapping[str, str]) -> None:  # noqa: B027 - optional
        """Start; ``config`` is one of the connector's ``task_configs``, plus some keys of the worker's."""

    def stop(self) -> None:  # noqa: B027 - optional
        """End; the last call, also after a failure, on the task's own thread.

        A task that waits has to use ``context.wait``; otherwise the worker abandons it after a time limit.
        """


class SourceTask(Task):
    """A task that reads records from a source."""

    @abc.abstractmethod
    def poll(self) -> Sequence[SourceRecord]:
        """The next records. If there are none, return an empty sequence after a short wait.

        Records are written in order. Their offsets are committed after they are on disk: uncommitted records come again
        after a crash.
        """

    def commit(self) -> None:
        """Notice that all records from ``poll`` so far are on disk and committed."""


class SinkTask(Task):
    """A task that writes records to a sink."""

    @abc.abstractmethod
    def put(self, records: Sequence[SinkRecord]) -> None:
        """Take records, in order within each partition."""

    def flush(self) -> None:
        """Make all received records durable; their offsets are committed when this returns."""


class Connector(abc.ABC):
    """A connector: configures its tasks. Derive from ``SourceConnector`` or ``SinkConnector``."""

    #: Shown in statuses and plugin lists, except ``"undefined"``.
    version: ClassVar[str] = "undefined"
    #: Class of its tasks.
    task_class: ClassVar[type[Task]]

    context: ConnectorContext

    @classmethod
    @abc.abstractmethod
    def config_def(cls) -> ConfigDef:
        """Definitions of its configuration, without the keys that every connector has."""

    @classmethod
    def check(cls, config: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
        """Errors of a configuration beyond its definitions, by key. Kafka: ``Connector.validate``."""
        del config
        return {}

    def start(self, config: Mapping[str, str]) -> None:  # noqa: B027 - optional
        """Start; ``config`` is the connector's configuration."""

    def stop(self) -> None:  # noqa: B027 - optional
        """End."""

    @abc.abstractmethod
    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """One configuration per task, at most ``max_tasks``. Called after ``start``."""


class SourceConnector(Connector):
    """A connector with tasks that read from a source."""

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]]
    ) -> bool:
        """Notice of a change of its offsets, before the change; raises to refuse it. Returns whether it considers them.

        Args:
            config: The connector's configuration.
            offsets: Pairs of partition and offset; ``None`` = deleted.
        """
        del config, offsets
        return False


class SinkConnector(Connector):
    """A connector with tasks that write to a sink, from ``topics`` or ``topics.regex`` of its configuration."""

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[tuple[str, int], int | None]) -> bool:
        """As for a source; topic and partition to offset."""
        del config, offsets
        return False
