"""Tasks of a Streams group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import total_ordering
from types import MappingProxyType

import attrs

from assignment_api.errors import TaskIdFormatError
from assignment_api.streams.ids import utf16_key

__all__ = ["NO_TASKS", "TaskId", "TasksBySubtopology", "tasks_by_subtopology"]

#: Sub-topology to ascending partitions, in Kafka's order, none empty.
TasksBySubtopology = Mapping[str, tuple[int, ...]]

#: No task at all.
NO_TASKS: TasksBySubtopology = MappingProxyType({})


@total_ordering
@attrs.frozen(order=False)
class TaskId:
    """A task. Kafka: ``TaskId`` of the group coordinator, not of Streams.

    Order: sub-topology as a text (UTF-16, so ``"10"`` is before ``"2"``), then partition.

    Args:
        subtopology_id: Any text; Streams sends a number.
    """

    subtopology_id: str
    partition: int

    @classmethod
    def parse(cls, text: str) -> TaskId:
        """Read ``"<sub-topology>_<partition>"``; the last ``_`` separates.

        Raises:
            TaskIdFormatError: if the text has another form.
        """
        subtopology, separator, partition = text.rpartition("_")
        if not separator or not (partition.isascii() and partition.isdecimal()):
            raise TaskIdFormatError(f"{text!r:.100} is no task of a Streams group: expected 'subtopology_partition'")
        return cls(subtopology, int(partition))

    def sort_key(self) -> tuple[bytes, int]:
        """Key that sorts as Kafka does."""
        return (utf16_key(self.subtopology_id), self.partition)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, TaskId):
            return NotImplemented
        return self.sort_key() < other.sort_key()

    def __str__(self) -> str:
        return f"{self.subtopology_id}_{self.partition}"


def tasks_by_subtopology(tasks: Mapping[str, Iterable[int]]) -> TasksBySubtopology:
    """Read-only and ordered, without repetitions and empty sub-topologies."""
    if not tasks:
        return NO_TASKS
    if isinstance(tasks, MappingProxyType):
        return tasks
    ordered = tasks if len(tasks) == 1 else sorted(tasks, key=utf16_key)
    return MappingProxyType({key: tuple(sorted(set(tasks[key]))) for key in ordered if tasks[key]})
