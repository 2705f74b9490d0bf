"""Conversion between a group's jobs and dense numbers."""

from __future__ import annotations

from collections.abc import Iterable

from assignment_api.connect import ConfiguredJobs, ConnectorTaskId

__all__ = ["JobNumbering"]


class JobNumbering:
    """Numbers of the jobs of each kind: configured jobs from 0 in Kafka's order, others in order of appearance.

    Valid as long as the configuration does not change.
    """

    __slots__ = (
        "_connector_numbers",
        "_connectors",
        "_names",
        "_ordinals",
        "_spans",
        "_strange_connectors",
        "_strange_task_numbers",
        "_strange_tasks",
        "configured",
        "counts",
    )

    def __init__(self, configured: ConfiguredJobs) -> None:
        self.configured = configured
        self._connectors = list(configured.connectors())
        self._connector_numbers = {name: number for number, name in enumerate(self._connectors)}
        #: Connector of each configured task, and the task's number in the connector.
        self._names: list[str] = []
        self._ordinals: list[int] = []
        self._spans: dict[str, tuple[int, int]] = {}
        start = 0
        for name in self._connectors:
            count = configured.task_counts[name]
            self._names += [name] * count
            self._ordinals += range(count)
            self._spans[name] = (start, count)
            start += count
        self.counts = (len(self._connectors), start)
        self._strange_connectors: list[str] = []
        self._strange_tasks: list[ConnectorTaskId] = []
        self._strange_task_numbers: dict[ConnectorTaskId, int] = {}

    def connector_number(self, name: str) -> int:
        number = self._connector_numbers.get(name)
        if number is None:
            number = self._connector_numbers[name] = self.counts[0] + len(self._strange_connectors)
            self._strange_connectors.append(name)
        return number

    def task_number(self, task: ConnectorTaskId) -> int:
        start, count = self._spans.get(task.connector, (0, 0))
        if 0 <= task.task < count:
            return start + task.task
        number = self._strange_task_numbers.get(task)
        if number is None:
            number = self._strange_task_numbers[task] = self.counts[1] + len(self._strange_tasks)
            self._strange_tasks.append(task)
        return number

    def task_numbers(self, tasks: Iterable[ConnectorTaskId]) -> list[int]:
        span_of, strange = self._spans.get, self.task_number
        return [
            span[0] + task.task
            if (span := span_of(task.connector)) is not None and 0 <= task.task < span[1]
            else strange(task)
            for task in tasks
        ]

    def connectors(self, numbers: Iterable[int]) -> tuple[str, ...]:
        known = self.counts[0]
        return tuple(
            self._connectors[number] if number < known else self._strange_connectors[number - known]
            for number in numbers
        )

    def tasks(self, numbers: Iterable[int]) -> tuple[ConnectorTaskId, ...]:
        known = self.counts[1]
        names, ordinals = self._names, self._ordinals
        return tuple(
            [
                ConnectorTaskId(names[number], ordinals[number])
                if number < known
                else self._strange_tasks[number - known]
                for number in numbers
            ]
        )
