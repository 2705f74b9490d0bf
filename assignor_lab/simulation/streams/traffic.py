"""What a played group reads from other zones: input of active tasks, state that comes back, and what copies follow.

A client reads from the leader of a partition, unless it is told to read from the nearest replica (KIP-392:
``client.rack``, and brokers with ``replica.selector.class``). Episodes say in which racks a partition has replicas, not
which of them leads; leaders are taken to be spread evenly over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from assignment_api.streams import TaskTopicPartition
from assignor_lab.simulation.streams.simulate import Played

__all__ = ["BYTES_OF_GIB", "ReadsFrom", "TrafficTerms", "crossing_bytes"]

ReadsFrom = Literal["leader", "nearest"]
BYTES_OF_GIB = 1 << 30


@attrs.frozen
class TrafficTerms:
    """Under which terms traffic is counted.

    Args:
        reads_from: From whom clients read.
        dollars_per_gib: What a GiB costs that is read from another zone, both directions together; ``None``: unknown.
    """

    reads_from: ReadsFrom = "leader"
    dollars_per_gib: float | None = None


def crossing_bytes(played: Played, reads_from: ReadsFrom) -> float | None:
    """Bytes that instances read from another rack (zone); ``None`` where racks, or the bytes of a state, are unknown.

    Args:
        played: The episode after it was played.
        reads_from: From whom clients read.
    """
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


def _known(played: Played) -> bool:
    if any(each is not None and each.bytes_per_record is None for each in played.episode.changelogs):
        return False
    if any(instance.settings.rack is None for instance in played.world.instances.values()):
        return False
    return all(
        task.topic_partitions and all(partition.rack_ids for partition in task.topic_partitions)
        for task in played.episode.tasks
    )


def _crossing_share(partitions: Sequence[TaskTopicPartition], rack: str, reads_from: ReadsFrom) -> float:
    """Which part of what is read from these partitions comes from another rack."""
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
