"""Tasks of an application: the partitions that they read, racks, state stores."""

from __future__ import annotations

import attrs

from assignment_api.streams.ids import TaskId

__all__ = ["TaskInfo", "TaskTopicPartition"]


@attrs.frozen
class TaskTopicPartition:
    """A partition that a task reads or logs its state to. Kafka: ``TaskTopicPartition``.

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
    """One task of the application. Kafka: ``TaskInfo``.

    Args:
        id: The task.
        is_stateful: It has a state store, logged or not (what the public utilities call stateful).
        is_logged: It has at least one changelog partition (what Kafka's internal assignors call stateful).
        state_store_names: Names of its stores, or ``None`` where the source of the state did not tell.
        topic_partitions: All its source and changelog partitions, or ``None`` where the source did not tell.
    """

    id: TaskId
    is_stateful: bool
    is_logged: bool
    state_store_names: tuple[str, ...] | None = ()
    topic_partitions: tuple[TaskTopicPartition, ...] | None = ()

    def source_partitions(self) -> tuple[TaskTopicPartition, ...]:
        """The partitions that the task reads, in the order of the input; empty where they are unknown."""
        return tuple(partition for partition in self.topic_partitions or () if partition.is_source)

    def changelog_partitions(self) -> tuple[TaskTopicPartition, ...]:
        """The partitions that hold the task's state, in the order of the input; empty where they are unknown."""
        return tuple(partition for partition in self.topic_partitions or () if partition.is_changelog)
