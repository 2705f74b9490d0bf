"""Names of tasks for notebooks."""

from __future__ import annotations

from collections.abc import Iterator

from assignment_api.group.tasks import TasksBySubtopology

__all__ = ["names_of"]


def names_of(tasks: TasksBySubtopology) -> Iterator[str]:
    """``subtopology_partition`` of each, in order."""
    return (f"{subtopology}_{partition}" for subtopology, partitions in tasks.items() for partition in partitions)
