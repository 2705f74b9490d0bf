"""Base classes of connectors. Kafka: ``Connector``, ``Task`` and related classes.

Methods are synchronous. Each connector and each task has a thread of its own.
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
        """A file in the directory of connectors; symbolic links are resolved before the check.

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
        """Wait at most ``seconds``; True if the task must end or pause."""

    def file(self, path: str) -> Path:
        """As :meth:`ConnectorContext.file`."""

    def offset(self, source_partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Committed offset of a source partition, or ``None``; for sources."""


class Task(abc.ABC):
    """A task. Kafka: ``Task``."""

    context: TaskContext

    def start(self, config: Mapping[str, str]) -> None:  # noqa: B027 - optional
        """Start; ``config`` is one of the ``task_configs``, plus keys of the worker's."""

    def stop(self) -> None:  # noqa: B027 - optional
        """The last call, also after a failure, on the task's thread.

        Wait with ``context.wait``: otherwise the worker abandons the task after a time limit.
        """


class SourceTask(Task):
    """Reads records from a source."""

    @abc.abstractmethod
    def poll(self) -> Sequence[SourceRecord]:
        """The next records, in order; without any, an empty sequence after a short wait.

        Offsets are committed once records are on disk: uncommitted ones come again after a crash.
        """

    def commit(self) -> None:
        """All records from ``poll`` so far are on disk and committed."""


class SinkTask(Task):
    """Writes records to a sink."""

    @abc.abstractmethod
    def put(self, records: Sequence[SinkRecord]) -> None:
        """Take records, ordered within each partition."""

    def flush(self) -> None:
        """Make received records durable; their offsets are committed afterwards."""


class Connector(abc.ABC):
    """Configures its tasks. Derive from ``SourceConnector`` or ``SinkConnector``."""

    #: For statuses and plugin lists, except ``"undefined"``.
    version: ClassVar[str] = "undefined"
    #: Class of its tasks.
    task_class: ClassVar[type[Task]]

    context: ConnectorContext

    @classmethod
    @abc.abstractmethod
    def config_def(cls) -> ConfigDef:
        """Definitions without the keys that every connector has."""

    @classmethod
    def check(cls, config: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
        """Further errors by key. Kafka: ``Connector.validate``."""
        del config
        return {}

    def start(self, config: Mapping[str, str]) -> None:  # noqa: B027 - optional
        """Start with the connector's configuration."""

    def stop(self) -> None:  # noqa: B027 - optional
        """End."""

    @abc.abstractmethod
    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """At most ``max_tasks``, one per task; called after ``start``."""


class SourceConnector(Connector):
    """A connector whose tasks read from a source."""

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]]
    ) -> bool:
        """Before a change of its offsets; raises to refuse. True if it considers them.

        Args:
            offsets: Pairs of partition and offset; ``None`` = deleted.
        """
        del config, offsets
        return False


class SinkConnector(Connector):
    """A connector whose tasks write to a sink, from ``topics`` or ``topics.regex``."""

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[tuple[str, int], int | None]) -> bool:
        """As for a source; by topic and partition."""
        del config, offsets
        return False
