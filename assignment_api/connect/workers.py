"""A worker from the view of the leader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import attrs

from assignment_api.connect.errors import ConnectConfigError, ConnectorTaskIdFormatError
from assignment_api.connect.jobs import NO_JOBS, ConnectorTaskId, Jobs

__all__ = ["STATIC_CONNECTORS", "STATIC_TASKS", "WILDCARD", "StaticJobs", "Worker"]

#: Keys of KIP-987.
STATIC_CONNECTORS = "static.connectors"
STATIC_TASKS = "static.tasks"


def _optional_tuple(values: Iterable[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(dict.fromkeys(values))


@attrs.frozen
class StaticJobs:
    """Jobs that a worker may run (KIP-987); unconfigured ones are ignored.

    Args:
        connectors: ``static.connectors``, for connector instances; ``None`` = not set.
        tasks: ``static.tasks``; ``None`` = not set.
    """

    connectors: tuple[str, ...] | None = attrs.field(default=None, converter=_optional_tuple)
    tasks: tuple[ConnectorTaskId, ...] | None = attrs.field(default=None, converter=_optional_tuple)

    @property
    def is_set(self) -> bool:
        """True if a key is set, even to an empty list."""
        return self.connectors is not None or self.tasks is not None

    @property
    def is_empty(self) -> bool:
        """True if no job is listed."""
        return not self.connectors and not self.tasks

    def jobs(self) -> Jobs:
        """All listed jobs, existing or not."""
        return Jobs(self.connectors or (), self.tasks or ())

    @classmethod
    def from_config(cls, configs: Mapping[str, Any]) -> StaticJobs:
        """Read ``static.connectors`` and ``static.tasks``: lists, or texts with commas.

        Items of a text are trimmed; an empty text is an empty list (Kafka's type LIST).

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


#: Of a wildcard worker: no static jobs.
WILDCARD = StaticJobs()


def _labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    return labels if isinstance(labels, MappingProxyType) else MappingProxyType(dict(labels))


@attrs.frozen
class Worker:
    """A member as it joined. Kafka: ``ExtendedWorkerState`` under a member id.

    Args:
        member_id: From the coordinator; a returning worker gets another, with the same URL.
        owned: Reported jobs, in the worker's order (Kafka: ``ExtendedAssignment``); ``eager``: none.
        static: Applies under protocol ``static`` only.
        max_delay_ms: Its ``scheduled.rebalance.max.delay.ms``, or ``None``. Connect's wire format lacks it: Kafka's
            leader uses its own (quirk Q6).
        url: Its advertised URL, such as ``http://connect-1:8083/`` (Kafka: ``ExtendedWorkerState.url()``); empty:
            unknown.
        labels: Labels of a captured state, such as a zone. Connect's wire format has none, so live groups have none.
    """

    member_id: str
    owned: Jobs = NO_JOBS
    static: StaticJobs = WILDCARD
    max_delay_ms: int | None = None
    url: str = ""
    labels: Mapping[str, str] = attrs.field(factory=dict, converter=_labels)

    @property
    def host(self) -> str:
        """The host of the URL in lower case, without a port; empty if the URL is unknown or has none."""
        try:
            return urlsplit(self.url).hostname or ""
        except ValueError:
            return ""
