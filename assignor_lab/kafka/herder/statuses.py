"""Statuses of connectors and tasks, and precedence between two of them (Kafka: ``KafkaStatusBackingStore``)."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import attrs

__all__ = ["ConnectorStatus", "InstanceStatus", "JobState", "Status", "comes_too_late", "may_be_written"]


class JobState(enum.StrEnum):
    """Written states of connectors and tasks."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"
    STOPPED = "STOPPED"


@attrs.frozen
class Status:
    """A worker's status record.

    Args:
        state: The state; an unknown text if a later release wrote it.
        version: Version of the plugin; ``None``: the writer held no instance.
    """

    state: JobState | str
    worker_id: str
    generation: int
    trace: str | None = None
    version: str | None = None

    def instance(self, number: int | None = None) -> InstanceStatus:
        """The status in the form of the REST interface; ``number`` of a task."""
        return InstanceStatus(self.state, self.worker_id, self.version, self.trace or None, number)


@attrs.frozen
class InstanceStatus:
    """State of a connector's instance or of a task (``number``) in the form of the REST interface."""

    state: JobState | str
    worker_id: str
    version: str | None = None
    trace: str | None = None
    number: int | None = None


@attrs.frozen
class ConnectorStatus:
    """State of a connector and its tasks; ``type`` is ``source``, ``sink`` or ``unknown``."""

    name: str
    connector: InstanceStatus
    tasks: Sequence[InstanceStatus]
    type: str


def may_be_written(status: Status, known: Status | None) -> bool:
    """True if a worker may write a status that must not hide a later owner's. Kafka: ``putSafe``."""
    return known is None or known.worker_id == status.worker_id or known.generation <= status.generation


def comes_too_late(status: Status, known: Status | None) -> bool:
    """True if a task's status comes from a former owner, after a newer one (KAFKA-12525)."""
    return (
        status.state == JobState.UNASSIGNED
        and known is not None
        and known.state == JobState.RUNNING
        and known.generation >= status.generation
        and known.worker_id != status.worker_id
    )
