"""Tasks of an application: their partitions, racks and state stores."""

from __future__ import annotations

import attrs

from assignment_api.streams.ids import TaskId

__all__ = ["TaskInfo", "TaskTopicPartition"]


@attrs.frozen
class TaskTopicPartition:
    """A source or changelog partition of a task. Kafka: ``TaskTopicPartition``.

    Args:
        topic: Name of the topic.
        partition: Number of the partition, from 0.
        is_source: The task reads it.
        is_changelog: The task's state is logged to it; both are true for a source topic used as a changelog.
        rack_ids: Racks of the replicas, in the order of the input; empty or ``None`` = unknown.
    """

    topic: str
    partition: int
    is_source: bool
    is_changelog: bool
    rack_ids: tuple[str, ...] | None = None


@attrs.frozen
class TaskInfo:
    """One task of the application.

    Kafka: ``TaskInfo``.

    Args:
        is_stateful: It has a state store, logged or not (*stateful* in the public utilities).
        is_logged: It has at least one changelog partition (*stateful* in Kafka's internal assignors).
        state_store_names: Names of its stores, or ``None`` if the source of the state lacks them.
        topic_partitions: All its source and changelog partitions, or ``None`` if the source lacks them.
    """

    id: TaskId
    is_stateful: bool
    is_logged: bool
    state_store_names: tuple[str, ...] | None = ()
    topic_partitions: tuple[TaskTopicPartition, ...] | None = ()

    def source_partitions(self) -> tuple[TaskTopicPartition, ...]:
        """The partitions that the task reads, in the order of the input; empty if unknown."""
        return tuple(partition for partition in self.topic_partitions or () if partition.is_source)

    def changelog_partitions(self) -> tuple[TaskTopicPartition, ...]:
        """The partitions that hold the task's state, in the order of the input; empty if unknown."""
        return tuple(partition for partition in self.topic_partitions or () if partition.is_changelog)
