"""Connector instances and tasks, configured or owned."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import total_ordering
from types import MappingProxyType

import attrs

from assignment_api.connect.errors import ConnectorTaskIdFormatError, InvalidConnectGroupError
from assignment_api.streams.ids import utf16_key

__all__ = ["NO_JOBS", "ConfiguredJobs", "ConnectorTaskId", "Jobs"]

_NUMBER = re.compile(r"[0-9]{1,10}\Z")
_INT_MAX = 2**31 - 1


@total_ordering
@attrs.frozen(order=False, repr=False)
class ConnectorTaskId:
    """A task of a connector, numbered from 0. Kafka: ``ConnectorTaskId``.

    Order: connector name by UTF-16 code unit, then number.
    """

    connector: str
    task: int

    @classmethod
    def parse(cls, text: str) -> ConnectorTaskId:
        """Read ``"name-3"``; the last dash counts.

        Raises:
            ConnectorTaskIdFormatError: if no 32-bit number follows a dash.
        """
        connector, separator, number = text.rpartition("-")
        if not separator or not _NUMBER.match(number) or int(number) > _INT_MAX:
            raise ConnectorTaskIdFormatError(
                f"{text!r:.120} is not the id of a connector's task: expected the connector's name, a dash and the "
                "task's number, such as files-0"
            )
        return cls(connector, int(number))

    def sort_key(self) -> tuple[bytes, int]:
        """Key that sorts as Kafka does."""
        return (utf16_key(self.connector), self.task)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, ConnectorTaskId):
            return NotImplemented
        return self.sort_key() < other.sort_key()

    def __str__(self) -> str:
        return f"{self.connector}-{self.task}"

    def __repr__(self) -> str:
        return f"ConnectorTaskId({str(self)!r})"


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _tasks(tasks: Iterable[ConnectorTaskId]) -> tuple[ConnectorTaskId, ...]:
    return tuple(dict.fromkeys(tasks))


@attrs.frozen
class Jobs:
    """Connector instances and tasks, each once. Kafka: ``ConnectorsAndTasks``.

    In the order of a worker's report: Kafka revokes the first ones.
    """

    connectors: tuple[str, ...] = attrs.field(default=(), converter=_names)
    tasks: tuple[ConnectorTaskId, ...] = attrs.field(default=(), converter=_tasks)

    def __len__(self) -> int:
        """Number of connector instances and tasks."""
        return len(self.connectors) + len(self.tasks)

    def plus(self, others: Jobs) -> Jobs:
        """These jobs, then the additional ones."""
        return Jobs((*self.connectors, *others.connectors), (*self.tasks, *others.tasks))

    def minus(self, others: Jobs) -> Jobs:
        """Those not in ``others``."""
        connectors, tasks = frozenset(others.connectors), frozenset(others.tasks)
        return Jobs(
            tuple(name for name in self.connectors if name not in connectors),
            tuple(task for task in self.tasks if task not in tasks),
        )

    def sorted(self) -> Jobs:
        """In Kafka's order."""
        return Jobs(tuple(sorted(self.connectors, key=utf16_key)), sorted(self.tasks, key=ConnectorTaskId.sort_key))


#: No job at all.
NO_JOBS = Jobs()


def _counts(counts: Mapping[str, int]) -> Mapping[str, int]:
    return counts if isinstance(counts, MappingProxyType) else MappingProxyType(dict(counts))


@attrs.frozen
class ConfiguredJobs:
    """All jobs of the group in the leader's snapshot of the config topic.

    Paused connectors count with their tasks, stopped ones without tasks (Kafka: ``ClusterConfigState``).

    Args:
        task_counts: Connector to number of tasks, in any order.

    Raises:
        InvalidConnectGroupError: if a number is negative.
    """

    task_counts: Mapping[str, int] = attrs.field(factory=dict, converter=_counts)

    def __attrs_post_init__(self) -> None:
        for connector, count in self.task_counts.items():
            if count < 0:
                raise InvalidConnectGroupError(f"connector {connector!r:.80} has {count} tasks: give 0 or more")

    def __len__(self) -> int:
        """Number of connector instances and tasks."""
        return len(self.task_counts) + sum(self.task_counts.values())

    def __contains__(self, job: object) -> bool:
        if isinstance(job, ConnectorTaskId):
            return 0 <= job.task < self.task_counts.get(job.connector, 0)
        return job in self.task_counts

    def connectors(self) -> tuple[str, ...]:
        """Names in Kafka's order."""
        return tuple(sorted(self.task_counts, key=utf16_key))

    def tasks(self) -> tuple[ConnectorTaskId, ...]:
        """In Kafka's order."""
        return tuple(
            ConnectorTaskId(connector, number)
            for connector in self.connectors()
            for number in range(self.task_counts[connector])
        )

    def jobs(self) -> Jobs:
        """In Kafka's order."""
        return Jobs(self.connectors(), self.tasks())
