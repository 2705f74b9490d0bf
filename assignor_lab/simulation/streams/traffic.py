"""A simulated group's reads from other zones: input of active tasks, restored state, and records that copies follow.

A client reads from a partition's leader, unless configured for the nearest replica (KIP-392: ``client.rack``, and
brokers with ``replica.selector.class``). Episodes have the replicas' racks without the leader: leaders are assumed to
be spread evenly over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from assignment_api.streams import TaskTopicPartition
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

__all__ = ["ReadsFrom", "TrafficTerms", "crossing_bytes", "dollars_of"]

ReadsFrom = Literal["leader", "nearest"]
_BYTES_OF_GIB = 1 << 30


@attrs.frozen
class TrafficTerms:
    """Terms for counting traffic.

    Args:
        dollars_per_gib: Price from another zone, both directions together, or ``None``.
    """

    reads_from: ReadsFrom = "leader"
    dollars_per_gib: float | None = None


def crossing_bytes(played: PlayedStreamsEpisode, reads_from: ReadsFrom) -> float | None:
    """Bytes read from another rack (zone); ``None`` if racks, or the bytes of a state, are unknown."""
    world, tasks = played.world, played.episode.tasks
    racks = {name: instance.settings.rack for name, instance in world.instances.items()}
    shares: dict[tuple[int, str, bool], float] = {}

    def share(task: int, instance: str, *, changelog: bool) -> float:
        key = (task, instance, changelog)
        if key not in shares:
            info = tasks[task]
            partitions = info.changelog_partitions() if changelog else info.source_partitions()
            shares[key] = _crossing_share(partitions, racks[instance] or "", reads_from)
        return shares[key]

    if not _known(played):
        return None
    total = 0.0
    for read in world.reads.all:
        total += read.size * share(read.task, read.instance, changelog=True)
    for task, runs in enumerate(world.ledger.runs):
        per_ms = played.episode.input_bytes_per_s[task] / 1000
        if per_ms:
            for begin, end, owner in runs:
                begin = max(begin, played.first_ms)
                length = max(0, (begin if end is None else end) - begin)
                total += length * per_ms * share(task, owner, changelog=False)
    return total


def dollars_of(crossed: float | None, per_gib: float | None) -> float | None:
    return None if crossed is None or per_gib is None else crossed / _BYTES_OF_GIB * per_gib


def _known(played: PlayedStreamsEpisode) -> bool:
    if any(each is not None and each.bytes_per_record is None for each in played.episode.changelogs):
        return False
    if any(instance.settings.rack is None for instance in played.world.instances.values()):
        return False
    return all(
        task.topic_partitions and all(partition.rack_ids for partition in task.topic_partitions)
        for task in played.episode.tasks
    )


def _crossing_share(partitions: Sequence[TaskTopicPartition], rack: str, reads_from: ReadsFrom) -> float:
    if not partitions:
        return 0.0
    crossing = 0.0
    for partition in partitions:
        replicas = partition.rack_ids or ()
        if rack not in replicas:
            crossing += 1.0
        elif reads_from == "leader":
            crossing += 1.0 - 1.0 / len(replicas)
    return crossing / len(partitions)
