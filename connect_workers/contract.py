"""The contract between the REST interface and a worker's herder.

KIP-745; Kafka: ``KafkaStatusBackingStore``.

A worker's herder carries out requests one after the other on its own loop; the REST side only translates.
Tests of the REST side use a herder of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import attrs

from assignment_api import AssignorLabError
from assignment_api.connect import ConnectorTaskId
from assignor_lab.kafka.herder.descriptions import ConnectorInfo, ServerInfo
from assignor_lab.kafka.herder.restarts import RestartRequest
from assignor_lab.kafka.herder.statuses import ConnectorStatus, InstanceStatus

__all__ = [
    "AlreadyExistsError",
    "BadRequestError",
    "ConflictError",
    "ConnectorInfo",
    "ConnectorStatus",
    "ForbiddenError",
    "Herder",
    "HerderError",
    "InstanceStatus",
    "LoggerLevel",
    "WorkerMetric",
    "NotAssignedError",
    "NotFoundError",
    "NotLeaderError",
    "Offset",
    "OffsetsAnswer",
    "PluginInfo",
    "RebalanceExpectedError",
    "RestartAnswer",
    "RestartRequest",
    "ServerInfo",
    "TaskConfig",
    "UnhealthyError",
    "Validation",
    "WorkerStage",
]


# --- refusals -------------------------------------------------------------------------------------


class HerderError(AssignorLabError):
    """A request that was not carried out; ``status`` is the HTTP status that Connect answers with."""

    status = 500


class BadRequestError(HerderError):
    """The request itself is wrong."""

    status = 400


class ForbiddenError(HerderError):
    """Not allowed, or switched off."""

    status = 403


class NotFoundError(HerderError):
    """There is no such connector, task, plugin, logger or status."""

    status = 404


class ConflictError(HerderError):
    """It cannot be done at this moment."""

    status = 409


class AlreadyExistsError(ConflictError):
    """A connector of this name exists."""


class RebalanceExpectedError(ConflictError):
    """The configuration is newer than the assignment: a rebalance is about to come."""


class UnhealthyError(HerderError):
    """The worker handles requests, but something that it needs fails; the message has the reason."""


class _ElsewhereError(HerderError):
    """Another worker must carry out the request.

    Args:
        forward_url: Base URL of that worker; ``None`` if unknown.
    """

    status = 409

    def __init__(self, message: str, forward_url: str | None) -> None:
        super().__init__(message)
        self.forward_url = forward_url


class NotLeaderError(_ElsewhereError):
    """Only the leader does this."""


class NotAssignedError(_ElsewhereError):
    """Only the owner of the connector or task does this."""


# --- values ---------------------------------------------------------------------------------------


@attrs.frozen
class WorkerStage:
    """The present or last stage of a worker's herder; times in milliseconds of the epoch.

    ``completed_ms`` is ``None`` while the stage lasts.
    """

    description: str
    started_ms: int
    completed_ms: int | None = None


@attrs.frozen
class TaskConfig:
    """The configuration of one task."""

    task: ConnectorTaskId
    config: Mapping[str, str]


@attrs.frozen
class RestartAnswer:
    """The plan of an asynchronous restart; ``RESTARTING`` marks the instances that restart.

    Kafka: ``RestartPlan``.
    """

    plan: ConnectorStatus


@attrs.frozen
class Offset:
    """One source partition or topic partition, and how far it is; ``offset`` is ``None`` to reset it."""

    partition: Mapping[str, Any]
    offset: Mapping[str, Any] | None


@attrs.frozen
class OffsetsAnswer:
    """Result of a change of offsets, in Connect's words."""

    message: str


@attrs.frozen
class PluginInfo:
    """A connector class that can be used; ``type`` is ``source``, ``sink``, ``converter``, ..."""

    class_name: str
    type: str
    version: str | None


@attrs.frozen
class Validation:
    """Answer of ``PUT /connector-plugins/{p}/config/validate``, in Connect's JSON form."""

    name: str
    error_count: int
    groups: Sequence[str]
    configs: Sequence[Mapping[str, Any]]


@attrs.frozen
class LoggerLevel:
    """Level of a logger, and when it was last changed (milliseconds of the epoch), if ever."""

    level: str
    last_modified: int | None


@attrs.frozen
class WorkerMetric:
    """One reading, named as Connect's JMX attribute (Kafka: ``ConnectMetricsRegistry``).

    Args:
        group: Such as ``connect-worker-metrics``.
        name: Such as ``connector-restarting-task-count``. A name that ends in ``-total`` only grows.
        value: A number, or a text such as a protocol, state or class.
        labels: Subject of the reading, such as ``{"connector": "files", "task": "0"}``.
    """

    group: str
    name: str
    value: float | str
    labels: Mapping[str, str] = attrs.field(factory=dict)


# --- the herder -----------------------------------------------------------------------------------


class Herder(Protocol):
    """One worker.

    Every coroutine raises a ``HerderError``, and no other expected error. After 90 seconds the REST side
    stops waiting and reads ``stage``. "Leader", "owner" and "any" name the worker that carries a request out;
    other workers raise ``NotLeaderError`` or ``NotAssignedError`` with the URL to go to.
    """

    @property
    def stage(self) -> WorkerStage: ...

    @property
    def ready(self) -> bool: ...

    def server_info(self) -> ServerInfo: ...

    async def health(self) -> None:
        """Returns after one turn of the herder's loop: the worker handles requests.

        Raises:
            UnhealthyError: at once, if changes cannot be stored.
        """

    # --- reads, from memory; any worker, never blocked ---

    def connectors(self) -> Sequence[str]: ...

    def known_connector(self, name: str) -> ConnectorInfo:
        """The connector as read so far; available while a rebalance is expected."""

    def connector_status(self, name: str) -> ConnectorStatus: ...

    def task_status(self, task: ConnectorTaskId) -> InstanceStatus: ...

    def active_topics(self, name: str) -> Sequence[str]: ...

    def plugins(self, *, connectors_only: bool = True) -> Sequence[PluginInfo]: ...

    def plugin_config(self, name: str, version: str | None = None) -> Sequence[Mapping[str, Any]]:
        """Definitions of a plugin's configuration, as Connect's JSON."""

    def loggers(self) -> Mapping[str, LoggerLevel]: ...

    def logger(self, name: str) -> LoggerLevel: ...

    def metrics(self) -> Sequence[WorkerMetric]: ...

    # --- reads on the herder's loop; any worker ---

    async def connector_info(self, name: str) -> ConnectorInfo: ...

    async def task_configs(self, name: str) -> Sequence[TaskConfig]: ...

    async def connector_offsets(self, name: str) -> Sequence[Offset]: ...

    async def validate(self, plugin: str, config: Mapping[str, str | None]) -> Validation: ...

    # --- writes by the leader ---

    async def put_connector(
        self, name: str, config: Mapping[str, str | None], *, initial_state: str | None = None, replace: bool
    ) -> tuple[bool, ConnectorInfo]:
        """Creates or replaces a connector. Returns whether it is new, and the connector (a new one has no tasks)."""

    async def patch_connector(self, name: str, patch: Mapping[str, str | None]) -> ConnectorInfo:
        """Changes some keys of a configuration; ``None`` takes one away."""

    async def delete_connector(self, name: str) -> None: ...

    async def stop_connector(self, name: str) -> None: ...

    async def restart_connector_and_tasks(self, request: RestartRequest) -> RestartAnswer:
        """KIP-745, asynchronous."""

    async def alter_offsets(self, name: str, offsets: Sequence[Offset]) -> OffsetsAnswer: ...

    async def reset_offsets(self, name: str) -> OffsetsAnswer: ...

    async def put_task_configs(self, name: str, configs: Sequence[Mapping[str, str]]) -> None:
        """Configurations of a connector's tasks from its owner (internal)."""

    async def fence(self, name: str) -> None:
        """Fences earlier generations of a source connector's tasks (internal)."""

    # --- by the owner ---

    async def restart_connector(self, name: str) -> None: ...

    async def restart_task(self, task: ConnectorTaskId) -> None: ...

    # --- by any worker ---

    async def pause_connector(self, name: str) -> None: ...

    async def resume_connector(self, name: str) -> None: ...

    async def reset_topics(self, name: str) -> None: ...

    async def set_logger_level(self, name: str, level: str) -> Sequence[str]: ...

    async def set_cluster_logger_level(self, name: str, level: str) -> None: ...

    def verify_internal_request(self, body: bytes, signature: str | None, algorithm: str | None) -> None:
        """Checks a request between workers (KIP-507).

        Raises:
            BadRequestError: without a signature, or with an algorithm that is not accepted.
            ForbiddenError: with a wrong one.
            HerderError: status 503 while there is no key yet.
        """
