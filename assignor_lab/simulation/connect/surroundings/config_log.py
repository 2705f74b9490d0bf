"""Config topic of a simulation: connectors, numbers of tasks, and views of readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs

from assignment_api.connect import ConfiguredJobs

__all__ = ["ConfigLog", "ConfigRecord", "ConfigView"]


@attrs.frozen
class ConfigRecord:
    """A record of the topic, or records that a worker reads only as a whole.

    Args:
        kind: ``connector`` (its configuration), ``delete``, or ``commit`` (its tasks' configurations, with the commit
            that makes them effective).
        tasks: For ``connector``: number of tasks to configure; for ``commit``: present number.
    """

    kind: Literal["connector", "delete", "commit"]
    connector: str
    tasks: int = 0


@attrs.frozen(eq=False)
class ConfigView:
    """Knowledge of a worker that has read up to an offset (Kafka: ``ClusterConfigState``).

    Args:
        wanted: Connector to the number of tasks in its configuration.
        versions: Connector to a number that grows with each of its configurations.
    """

    offset: int
    jobs: ConfiguredJobs
    wanted: Mapping[str, int]
    versions: Mapping[str, int]

    def needs_task_configs(self, connector: str) -> bool:
        return connector in self.wanted and self.wanted[connector] != self.jobs.task_counts.get(connector, 0)


class ConfigLog:
    """The topic, one partition, in the order of its records."""

    __slots__ = ("_records", "_views")

    def __init__(self, initial: Mapping[str, int]) -> None:
        self._records: list[ConfigRecord] = []
        jobs = ConfiguredJobs(dict(initial))
        self._views = [ConfigView(0, jobs, dict(initial), dict.fromkeys(initial, 0))]

    @property
    def end(self) -> int:
        return len(self._records)

    def append(self, record: ConfigRecord) -> int:
        """The effect is that of ``KafkaConfigBackingStore``."""
        before = self._views[-1]
        counts, wanted = dict(before.jobs.task_counts), dict(before.wanted)
        versions = dict(before.versions)
        if record.kind == "connector":
            counts.setdefault(record.connector, 0)
            wanted[record.connector] = record.tasks
            versions[record.connector] = versions.get(record.connector, -1) + 1
        elif record.kind == "delete":
            for mapping in (counts, wanted, versions):
                mapping.pop(record.connector, None)
        elif record.connector in counts:
            counts[record.connector] = record.tasks
        self._records.append(record)
        self._views.append(ConfigView(self.end, ConfiguredJobs(counts), wanted, versions))
        return self.end

    def between(self, start: int, end: int) -> list[ConfigRecord]:
        return self._records[start:end]

    def view(self, offset: int) -> ConfigView:
        return self._views[offset]
