"""Statuses of connectors and tasks, and which of two that were written counts (Kafka: ``KafkaStatusBackingStore``)."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import attrs

__all__ = ["ConnectorStatus", "InstanceStatus", "State", "Status", "comes_too_late", "may_be_written"]


class State(enum.StrEnum):
    """States of connectors and tasks, as they are written."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"
    STOPPED = "STOPPED"


@attrs.frozen
class Status:
    """A status as a worker writes it.

    Args:
        state: The state; a text that is none of ours, if a later release wrote it.
        worker_id: Who wrote it.
        generation: The writer's generation.
        trace: Why it FAILED.
        version: Version of the plugin; ``None``: the writer held no instance.
    """

    state: State | str
    worker_id: str
    generation: int
    trace: str | None = None
    version: str | None = None

    def instance(self, number: int | None = None) -> InstanceStatus:
        """The status as the REST interface shows it; ``number`` of a task."""
        return InstanceStatus(self.state, self.worker_id, self.version, self.trace or None, number)


@attrs.frozen
class InstanceStatus:
    """State of a connector's instance or of a task (``number``) as the REST interface shows it."""

    state: State | str
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
    """Whether a worker writes a status that must not hide what a later owner said. Kafka: ``putSafe``."""
    return known is None or known.worker_id == status.worker_id or known.generation <= status.generation


def comes_too_late(status: Status, known: Status | None) -> bool:
    """Whether a task's status is the last word of an owner that is none any more (KAFKA-12525)."""
    return (
        status.state == State.UNASSIGNED
        and known is not None
        and known.state == State.RUNNING
        and known.generation >= status.generation
        and known.worker_id != status.worker_id
    )
