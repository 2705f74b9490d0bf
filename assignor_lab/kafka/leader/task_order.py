"""Order in which a leader creates an application's tasks: it decides collisions of hashes in Kafka's maps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assignment_api import TaskId
from assignment_api.java import iteration_order, subtopology_hash, task_id_hash

__all__ = ["in_kafka_order", "in_map_order", "made_order_of"]


def in_kafka_order(tasks: Iterable[TaskId]) -> list[TaskId]:
    """Tasks in Kafka's order of creation: sub-topologies in the order of its map, partitions ascending."""
    named = list(tasks)
    subtopologies = sorted(
        {(task.subtopology, task.topology_name) for task in named}, key=lambda sub: (sub[0], sub[1] or "")
    )
    in_map = iteration_order(subtopologies, [subtopology_hash(*sub) for sub in subtopologies])
    place = {sub: index for index, sub in enumerate(in_map)}
    return sorted(named, key=lambda task: (place[task.subtopology, task.topology_name], task.partition))


def in_map_order(tasks: Sequence[TaskId]) -> list[TaskId]:
    """Tasks in the order of a hash map that was filled in the order of ``tasks``."""
    hashes = [task_id_hash(task.subtopology, task.partition, task.topology_name) for task in tasks]
    return list(iteration_order(tasks, hashes, sort_key=TaskId.sort_key))


def made_order_of(shown: Sequence[TaskId]) -> list[TaskId]:
    """The leader's order of creation, for tasks that a hash map yields in the order ``shown``.

    Collections filled later with a part of the tasks resolve collisions in the order of creation. The map has another
    order: it has room for all tasks, and tasks that collide in a smaller table have separate slots in it.

    Returns:
        Kafka's order, if a map filled in that order yields ``shown``; otherwise ``shown``.
    """
    made = in_kafka_order(shown)
    return made if in_map_order(made) == list(shown) else list(shown)
