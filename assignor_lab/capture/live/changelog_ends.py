"""Ends of the tasks' changelogs, and sentences about unknown ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from assignment_api.streams import TaskId
from assignor_lab.capture.recorded.broker_answers import TopicPartition
from assignor_lab.capture.topology.group_topology import GroupTopology

__all__ = ["Offsets", "changelogs_of", "of_likely_ends", "of_unknown_ends", "possible_ends"]

Offsets = Callable[[Iterable[TopicPartition]], Mapping[TopicPartition, int]]


def changelogs_of(tasks: Iterable[TaskId], topology: GroupTopology) -> dict[TaskId, list[TopicPartition]]:
    """Leaves out tasks with unknown changelogs."""
    return {
        task: [(changelog, task.partition) for changelog in changelogs]
        for task in tasks
        if (changelogs := topology.of(task).changelogs)
    }


def possible_ends(task: TaskId, topology: GroupTopology, ends: Offsets) -> list[int]:
    """The likeliest sum first; empty if unknown."""
    possible = topology.of(task).possible
    known = ends(dict.fromkeys((topic, task.partition) for topics in possible for topic in topics))
    found = [
        sum(known[topic, task.partition] for topic in topics)
        for topics in possible
        if all((topic, task.partition) in known for topic in topics)
    ]
    return list(dict.fromkeys(found))


def of_likely_ends(likely: Mapping[TaskId, Sequence[int]]) -> str:
    """The assumption about tasks with several possible sums, the likeliest first."""
    shown = ", ".join(
        f"{task} {ways[0]}" + (f" (or {min(ways)} to {max(ways)})" if len(ways) > 1 else "")
        for task, ways in likely.items()
    )
    return (
        "which changelogs some tasks have is unknown: their lags are those behind the ends of the likeliest ones, "
        f"{shown} (give the topology with --topology)"
    )


def of_unknown_ends(tasks: Sequence[TaskId], topology: GroupTopology) -> str:
    stores = {
        store.name
        for task in tasks
        for store in topology.of(task).stores or ()
        if not store.is_known or store.changelog
    }
    of_stores = f" (stores {', '.join(sorted(stores))})" if stores else ""
    return (
        f"where the changelogs of tasks {', '.join(map(str, tasks))}{of_stores} end is unknown: their lags are those "
        "behind the furthest member (give the topology with --topology, or topology.optimization with --config)"
    )
