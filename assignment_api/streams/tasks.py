"""Tasks with partitions, racks and stores."""

from __future__ import annotations

import attrs

from assignment_api.streams.ids import TaskId

__all__ = ["TaskInfo", "TaskTopicPartition"]


@attrs.frozen
class TaskTopicPartition:
    """A source or changelog partition. Kafka: ``TaskTopicPartition``.

    Args:
        partition: From 0.
        is_source: The task reads it.
        is_changelog: The task's state is logged to it; a source topic may be both.
        rack_ids: Of the replicas, in the order of the input; empty or ``None`` = unknown.
    """

    topic: str
    partition: int
    is_source: bool
    is_changelog: bool
    rack_ids: tuple[str, ...] | None = None


@attrs.frozen
class TaskInfo:
    """A task. Kafka: ``TaskInfo``.

    Args:
        is_stateful: It has a store, logged or not (*stateful* in the public utilities).
        is_logged: It has a changelog partition (*stateful* in Kafka's internal assignors).
        state_store_names: ``None`` if unknown.
        topic_partitions: Source and changelog partitions; ``None`` if unknown.
    """

    id: TaskId
    is_stateful: bool
    is_logged: bool
    state_store_names: tuple[str, ...] | None = ()
    topic_partitions: tuple[TaskTopicPartition, ...] | None = ()

    def source_partitions(self) -> tuple[TaskTopicPartition, ...]:
        """In the order of the input; empty if unknown."""
        return tuple(partition for partition in self.topic_partitions or () if partition.is_source)

    def changelog_partitions(self) -> tuple[TaskTopicPartition, ...]:
        """In the order of the input; empty if unknown."""
        return tuple(partition for partition in self.topic_partitions or () if partition.is_changelog)
