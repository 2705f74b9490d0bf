"""Cooperative rebalancing: a task moves only after its old owner has revoked it, in a second round.

KIP-429; Kafka: ``StreamsPartitionAssignor.populateActiveTaskAndPartitionsLists``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from assignment_api import TaskId

__all__ = ["TopicPartition", "held_back_tasks", "temporary_standbys"]

TopicPartition = tuple[str, int]


def held_back_tasks(
    consumer: str,
    tasks: Iterable[TaskId],
    partitions_of: Mapping[TaskId, Collection[TopicPartition]],
    owner_in_client: Mapping[TopicPartition, str],
    owned_by_anybody: Collection[TopicPartition],
) -> tuple[TaskId, ...]:
    """The tasks that ``consumer`` must not get yet.

    A task is held back as a whole if one of its partitions is new to the consumer and still has an owner, even another
    consumer of the same client. A consumer with held-back tasks rebalances again at once.

    Args:
        owned_by_anybody: All partitions with a previous owner in the group.

    Returns:
        The tasks, sorted.
    """
    waiting = [
        task
        for task in tasks
        if any(
            owner_in_client.get(partition) != consumer and partition in owned_by_anybody
            for partition in partitions_of[task]
        )
    ]
    return tuple(sorted(waiting, key=TaskId.sort_key))


def temporary_standbys(
    held_back: Iterable[TaskId], stateful: Collection[TaskId], previous_standbys: Collection[TaskId]
) -> tuple[TaskId, ...]:
    """The tasks that a client keeps as standbys until it may run them, so that their stores stay open.

    Args:
        held_back: Active tasks that have to wait.
    """
    return tuple(task for task in held_back if task in stateful and task in previous_standbys)
