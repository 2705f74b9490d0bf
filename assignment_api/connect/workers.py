"""A worker from the view of the leader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignment_api.connect.errors import ConnectConfigError, ConnectorTaskIdFormatError
from assignment_api.connect.jobs import NO_JOBS, ConnectorTaskId, Jobs

__all__ = ["STATIC_CONNECTORS", "STATIC_TASKS", "WILDCARD", "StaticJobs", "Worker"]

#: Keys of a worker's configuration that KIP-987 proposes.
STATIC_CONNECTORS = "static.connectors"
STATIC_TASKS = "static.tasks"


def _optional_tuple(values: Iterable[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(dict.fromkeys(values))


@attrs.frozen
class StaticJobs:
    """Static assignments of a worker (KIP-987): the jobs that it may run.

    The jobs need not exist: an assignor ignores listed jobs that are not configured.

    Args:
        connectors: ``static.connectors``: connectors, for the instances that the worker may run; ``None`` = not set.
        tasks: ``static.tasks``; ``None`` = not set.
    """

    connectors: tuple[str, ...] | None = attrs.field(default=None, converter=_optional_tuple)
    tasks: tuple[ConnectorTaskId, ...] | None = attrs.field(default=None, converter=_optional_tuple)

    @property
    def is_set(self) -> bool:
        """True if either key is set, even to an empty list."""
        return self.connectors is not None or self.tasks is not None

    @property
    def is_empty(self) -> bool:
        """True if no job is listed, set or not."""
        return not self.connectors and not self.tasks

    def jobs(self) -> Jobs:
        """All listed jobs, existing or not."""
        return Jobs(self.connectors or (), self.tasks or ())

    @classmethod
    def from_config(cls, configs: Mapping[str, Any]) -> StaticJobs:
        """Read ``static.connectors`` and ``static.tasks`` of a worker's configuration.

        A list is a list, or one text with commas, whose items are trimmed. An empty text is an empty list, as for
        Kafka's type LIST. A connector with a comma in its name cannot be listed in a text.

        Raises:
            ConnectConfigError: if a value is no list of texts, or an item of ``static.tasks`` is no task id.
        """
        connectors = _listed(STATIC_CONNECTORS, configs.get(STATIC_CONNECTORS))
        tasks = _listed(STATIC_TASKS, configs.get(STATIC_TASKS))
        if tasks is None:
            return cls(connectors)
        try:
            return cls(connectors, [ConnectorTaskId.parse(task) for task in tasks])
        except ConnectorTaskIdFormatError as error:
            raise ConnectConfigError(f"Invalid value {tasks} for configuration {STATIC_TASKS}: {error}") from error


def _listed(key: str, value: object) -> list[str] | None:
    if value is None:
        return None
    if isinstance(value, str):
        return [item.strip() for item in value.split(",")] if value.strip() else []
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return [item.strip() for item in value]
    raise ConnectConfigError(f"Invalid value {value!r:.120} for configuration {key}: Expected a comma separated list.")


#: The static assignments of a wildcard worker: none.
WILDCARD = StaticJobs()


@attrs.frozen
class Worker:
    """A member of the group as it joined. Kafka: ``ExtendedWorkerState`` under a member id.

    Args:
        member_id: Id from the group's coordinator; a worker that leaves and returns gets another.
        owned: All jobs that it reports, in its own order (Kafka: ``ExtendedAssignment``). A worker under protocol
            ``eager`` reports none.
        static: Its static assignments; they apply under protocol ``static`` only.
        max_delay_ms: Its own ``scheduled.rebalance.max.delay.ms``, or ``None``: unknown. Connect's wire format lacks
            it: Kafka's leader uses its own (quirk Q6). A simulation may have it.
    """

    member_id: str
    owned: Jobs = NO_JOBS
    static: StaticJobs = WILDCARD
    max_delay_ms: int | None = None
