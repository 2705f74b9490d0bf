"""Crossings: the reads of each client from other racks, shared by traffic costs, bytes and dollars."""

from __future__ import annotations

from assignment_api import TaskTopicPartition
from assignor_lab.groups.metrics.definition import derived
from assignor_lab.groups.streams.placement import StreamsState, StreamsTopology

__all__ = ["Crossings", "crossings_of", "partitions_of"]

#: For each client and task, the partitions that have no replica in the client's rack; ``None``: racks unknown.
Crossings = tuple[tuple[int | None, ...], ...]

_ByTask = tuple[int | None, ...]


@derived
def crossings_of(state: StreamsState) -> tuple[Crossings, Crossings] | None:
    """Source partitions and changelog partitions that are read from another rack, by client and task.

    ``None`` if the rack of a client, or the partitions of a task, are unknown.
    """
    if state.racks is None or not state.topology.partitions_known:
        return None
    tables = _by_rack(state.topology)
    for rack in state.racks:
        if rack not in tables:
            tables[rack] = (
                tuple([_crossed(info.source_partitions(), rack) for info in state.infos]),
                tuple([_crossed(info.changelog_partitions(), rack) for info in state.infos]),
            )
    return tuple([tables[rack][0] for rack in state.racks]), tuple([tables[rack][1] for rack in state.racks])


@derived
def partitions_of(topology: StreamsTopology) -> tuple[list[int], list[int]]:
    """For each task, the known numbers of source partitions and of changelog partitions."""
    infos = topology.infos
    return [len(info.source_partitions()) for info in infos], [len(info.changelog_partitions()) for info in infos]


@derived
def _by_rack(_topology: StreamsTopology) -> dict[str, tuple[_ByTask, _ByTask]]:
    return {}


def _crossed(partitions: tuple[TaskTopicPartition, ...], rack: str) -> int | None:
    crossed = 0
    for partition in partitions:
        if not partition.rack_ids:
            return None
        crossed += rack not in partition.rack_ids
    return crossed
