"""The number of tasks that a topology can have, in words: more threads than tasks stay without work.

In Kafka a sub-topology has as many tasks as the most partitions of one of its source topics
(``PartitionGrouper#partitionGroups``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assignment_api.group import Subtopology
from assignment_api.streams import TaskInfo
from assignor_lab.documents.wording import plural

__all__ = ["limits_of_classic", "limits_of_streams"]

_MOST_SHOWN = 5


def limits_of_classic(tasks: Iterable[TaskInfo]) -> tuple[str, ...]:
    """A sentence for each sub-topology of a leader's state; topics may be unknown."""
    counts: dict[str, int] = {}
    topics: dict[str, set[str]] = {}
    for task in tasks:
        name = str(task.id).rpartition("_")[0]
        counts[name] = counts.get(name, 0) + 1
        topics.setdefault(name, set()).update(each.topic for each in task.topic_partitions or () if each.is_source)
    return _sentences(counts, {name: len(own) for name, own in topics.items() if own})


def limits_of_streams(subtopologies: Iterable[Subtopology]) -> tuple[str, ...]:
    """A sentence for each sub-topology of a broker's state, which does not list topics."""
    return _sentences({each.id: each.num_tasks for each in subtopologies}, {})


def _sentences(counts: Mapping[str, int], topics: Mapping[str, int]) -> tuple[str, ...]:
    found = []
    for name, count in list(counts.items())[:_MOST_SHOWN]:
        of = plural(topics[name], "source topic") if name in topics else "source topics"
        found.append(f"Sub-topology {name} has {plural(count, 'task')}: the most partitions of one of its {of}.")
    if len(counts) > _MOST_SHOWN:
        found.append(
            f"{len(counts) - _MOST_SHOWN} more sub-topologies have {sum(list(counts.values())[_MOST_SHOWN:])}."
        )
    found.append(
        "More tasks need more partitions, or one stream for each topic: then each topic is a sub-topology with tasks."
    )
    return tuple(found)
