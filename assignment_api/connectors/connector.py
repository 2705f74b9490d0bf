"""The classes that a connector for ``assignor connect serve`` is made of. Kafka: ``Connector``, ``Task`` and theirs.

Everything is synchronous. A connector's methods are called one after the other on a thread of their own, and so are a
task's; two objects are never the same thread's business at once.
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
    """What the worker gives a connector."""

    @property
    def name(self) -> str:
        """The connector's name."""

    def file(self, path: str) -> Path:
        """A file in the directory to which connectors are confined; symbolic links are followed before the check.

        Raises:
            PathNotAllowedError: if the path leads out of it.
        """

    def request_task_reconfiguration(self) -> None:
        """Has ``task_configs`` called again."""

    def raise_error(self, error: Exception) -> None:
        """Makes the connector FAILED, from any thread."""


class TaskContext(Protocol):
    """What the worker gives a task."""

    @property
    def name(self) -> str:
        """Name of its connector."""

    @property
    def number(self) -> int:
        """The task's number, from 0."""

    @property
    def stopping(self) -> bool:
        """Whether the task is to end, or to pause."""

    def wait(self, seconds: float) -> bool:
        """Waits until the task is to end or to pause, at most so long; whether it is."""

    def file(self, path: str) -> Path:
        """As :meth:`ConnectorContext.file`."""

    def offset(self, source_partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """What was committed for a part of the source, or ``None``; for sources alone."""


class Task(abc.ABC):
    """A task. Kafka: ``Task``."""

    context: TaskContext

    def start(self, config: Mapping[str, str]) -> None:  # noqa: B027 - optional
        """Begins; ``config`` is one of the connector's ``task_configs``, and some keys of the worker's."""

    def stop(self) -> None:  # noqa: B027 - optional
        """Ends; called once after everything else, also after a failure, on the task's own thread.

        A task that waits has to wait by ``context.wait``, or it is abandoned when its worker's patience is over.
        """


class SourceTask(Task):
    """A task that brings records."""

    @abc.abstractmethod
    def poll(self) -> Sequence[SourceRecord]:
        """The next records; an empty sequence where there are none for now, after a wait of a moment.

        Records are written in order. Their offsets are committed after they are on disk: what was not committed comes
        again after a crash.
        """

    def commit(self) -> None:
        """Everything that ``poll`` returned so far is on disk and committed."""


class SinkTask(Task):
    """A task that takes records."""

    @abc.abstractmethod
    def put(self, records: Sequence[SinkRecord]) -> None:
        """Takes records, in order within each partition."""

    def flush(self) -> None:
        """Brings everything that was taken to where it is safe; its offsets are committed when this returns."""


class Connector(abc.ABC):
    """A connector: configures its tasks. Derive from ``SourceConnector`` or ``SinkConnector``."""

    #: Shown in statuses and plugin lists; ``"undefined"`` is shown nowhere.
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
        """What is wrong with a configuration beyond its definitions: key to errors. Kafka: ``Connector.validate``."""
        del config
        return {}

    def start(self, config: Mapping[str, str]) -> None:  # noqa: B027 - optional
        """Begins; ``config`` is the connector's configuration."""

    def stop(self) -> None:  # noqa: B027 - optional
        """Ends."""

    @abc.abstractmethod
    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """A configuration for each task that is wanted, at most ``max_tasks``. Asked for after ``start``."""


class SourceConnector(Connector):
    """A connector whose tasks bring records."""

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]]
    ) -> bool:
        """Hears of a change of its offsets before it is made; raises to refuse it. Whether it takes them into account.

        Args:
            config: The connector's configuration.
            offsets: Pairs of partition and offset; ``None`` = forgotten.
        """
        del config, offsets
        return False


class SinkConnector(Connector):
    """A connector whose tasks take records; ``topics`` or ``topics.regex`` of its configuration say from where."""

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[tuple[str, int], int | None]) -> bool:
        """As for a source; topic and partition to offset."""
        del config, offsets
        return False
