"""The topology of a group, resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import attrs

from assignment_api.streams import TaskId
from assignor_lab.capture.topology.description import SubTopologyKey
from assignor_lab.scenarios.topology_provenance import TOPOLOGY_CONFLICT

__all__ = ["GroupTopology", "TopologyStore", "GroupSubTopology", "Topic", "TopicLookup", "by_subtopology", "names_of"]


@attrs.frozen
class Topic:
    """A topic at one moment.

    Args:
        racks: Racks of a partition's replicas, each once; empty if one of the brokers has no rack.
    """

    racks: Mapping[int, tuple[str, ...]]

    @property
    def partitions(self) -> int:
        return max(self.racks, default=-1) + 1


TopicLookup = Callable[[str], Topic | None]


@attrs.frozen
class TopologyStore:
    """A state store. Without a changelog it is not logged, or its changelog is unknown."""

    name: str
    changelog: str | None
    is_known: bool = True


@attrs.frozen
class GroupSubTopology:
    """One sub-topology.

    Args:
        sources: Sorted; ``None`` if unknown.
        stores: ``None`` if unknown.
        is_logged: True if its tasks have a changelog, known or not.
        possible: If stores are unknown, the topics that may be all its changelogs, the likeliest first.
    """

    sources: tuple[str, ...] | None
    stores: tuple[TopologyStore, ...] | None
    is_logged: bool
    possible: tuple[tuple[str, ...], ...] = ()

    @property
    def changelogs(self) -> tuple[str, ...] | None:
        """Sorted; ``None`` if one of them is unknown."""
        if self.stores is None or not all(store.is_known for store in self.stores):
            return None
        return tuple(sorted({store.changelog for store in self.stores if store.changelog is not None}))


@attrs.frozen
class GroupTopology:
    """All sub-topologies of a group.

    Args:
        conflicts: Contradictory sources, and the one that was used.
    """

    subtopologies: Mapping[SubTopologyKey, GroupSubTopology]
    assumptions: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(f"{TOPOLOGY_CONFLICT} {conflict}" for conflict in self.conflicts) + self.assumptions

    def of(self, task: TaskId) -> GroupSubTopology:
        return self.subtopologies[task.topology_name, task.subtopology]

    def logged(self, tasks: Iterable[TaskId]) -> frozenset[TaskId]:
        return frozenset(task for task in tasks if self.of(task).is_logged)


def by_subtopology(tasks: Iterable[TaskId]) -> dict[SubTopologyKey, list[TaskId]]:
    grouped: dict[SubTopologyKey, list[TaskId]] = {}
    for task in tasks:
        grouped.setdefault((task.topology_name, task.subtopology), []).append(task)
    return grouped


def names_of(keys: Iterable[SubTopologyKey]) -> str:
    listed = [str(number) if name is None else f"{name}__{number}" for name, number in keys]
    return ("sub-topology " if len(listed) == 1 else "sub-topologies ") + ", ".join(listed)
