"""Tasks of a resolved topology, in the form of scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assignment_api.streams import TaskId
from assignor_lab.capture.topology.description import SubTopologyKey
from assignor_lab.capture.topology.evidence import Brokers
from assignor_lab.capture.topology.group_topology import GroupSubTopology, GroupTopology

__all__ = ["task_document", "tasks_of_partitions"]


def task_document(task: TaskId, topology: GroupTopology, brokers: Brokers, assumptions: list[str]) -> dict[str, Any]:
    """Without a broker, racks are ``null``, and every topic of a sub-topology has a partition for each of its tasks.

    ``assumptions`` gets a sentence for each topic that is assumed or missing.
    """
    sub = topology.of(task)
    return {
        "id": str(task),
        "stateful": sub.is_logged if sub.stores is None else bool(sub.stores),
        "logged": sub.is_logged,
        "stores": None if sub.stores is None else [store.name for store in sub.stores],
        "partitions": _partitions(task, sub, brokers, assumptions),
    }


def _partitions(
    task: TaskId, sub: GroupSubTopology, brokers: Brokers, assumptions: list[str]
) -> list[dict[str, Any]] | None:
    changelogs = sub.changelogs
    if sub.sources is None or changelogs is None:
        return None
    documents = []
    found = [brokers.topic(name) for name in sub.sources]
    # Logs may lack partitions: one outside every known topic counts as part of all.
    is_seen = any(topic is None or task.partition < topic.partitions for topic in found)
    for name in (*sub.sources, *(name for name in changelogs if name not in sub.sources)):
        topic = brokers.topic(name)
        if topic is None and brokers.names:
            _say(
                assumptions, f"topic {name} is in no Metadata answer: partitions of the tasks that need it are unknown"
            )
            return None
        if topic is None and len(sub.sources) > 1:
            _say(assumptions, "all source topics of a sub-topology count as having the same number of partitions")
        # Only the first tasks read a topic with fewer partitions.
        is_read = name in sub.sources and (topic is None or not is_seen or task.partition < topic.partitions)
        if is_read or name in changelogs:
            documents.append(
                {
                    "topic": name,
                    "partition": task.partition,
                    "source": is_read,
                    "changelog": name in changelogs,
                    "racks": None if topic is None else list(topic.racks.get(task.partition, ())) or None,
                }
            )
    return documents


def _say(assumptions: list[str], sentence: str) -> None:
    if sentence not in assumptions:
        assumptions.append(sentence)


def tasks_of_partitions(
    tasks: Iterable[TaskId], topology: GroupTopology, sources: Mapping[SubTopologyKey, tuple[str, ...]]
) -> dict[tuple[str, int], TaskId]:
    owners: dict[tuple[str, int], TaskId] = {}
    for task in tasks:
        for topic in topology.of(task).sources or sources.get((task.topology_name, task.subtopology), ()):
            owners[topic, task.partition] = task
    return owners
