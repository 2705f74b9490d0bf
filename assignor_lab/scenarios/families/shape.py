"""The constant part of a generated group: topology, configuration and machines.

Sizes follow real groups: a handful of instances (median 8, one in seven above 15, at most 60), one to six
sub-topologies of one or two dozen tasks each, the first and most others with state (median 48 tasks in all).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import attrs

from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.state_parts import StatePartition, StateTask

__all__ = [
    "GroupShape",
    "InstanceMachine",
    "MachineMaker",
    "Machines",
    "SubTopology",
    "draw_fixed_group",
    "draw_group",
    "draw_group_clients",
    "group_task",
]

_CLIENTS = ((10, (1, 3)), (23, (4, 6)), (32, (7, 9)), (20, (10, 15)), (12, (16, 30)), (3, (31, 60)))
_SUBTOPOLOGIES = ((35, 1), (30, 2), (20, 3), (8, 4), (5, 5), (2, 6))
_PARTITIONS = ((4, 1), (6, 3), (8, 4), (14, 6), (16, 8), (20, 12), (14, 16), (10, 24), (6, 32), (2, 64))
_THREADS = ((35, 1), (30, 2), (25, 4), (10, 8))
_STANDBYS = ((45, 0), (45, 1), (10, 2))
_WARMUPS = ((75, 2), (10, 1), (15, 4))
_RECOVERY_LAGS = ((80, 10_000), (10, 1_000), (10, 100_000))
#: Divisions of 40 tasks into sub-topologies: (partitions, with state).
_FIXED_CUTS = (
    ((24, True), (16, False)),
    ((20, True), (20, True)),
    ((16, True), (12, True), (12, False)),
    ((10, True), (10, True), (10, False), (10, False)),
    ((40, True),),
)

_DAY_S = 86_400


@attrs.frozen
class SubTopology:
    """One sub-topology."""

    number: int
    partitions: int
    sources: tuple[str, ...]
    stores: tuple[str, ...]
    changelogs: tuple[str, ...]
    writes_per_s: int
    backlog_s: int


@attrs.frozen
class InstanceMachine:
    """The machine of an instance; a returning instance has the same machine.

    Args:
        number: From 0, in the order in which machines joined.
        rack: ``client.rack``, or ``None``.
    """

    number: int
    host: str | None
    rack: str | None
    tags: dict[str, str]
    threads: int


class Machines(Protocol):
    """Creates the machines of a group."""

    def make(self, number: int, draws: Draws) -> InstanceMachine: ...


@attrs.frozen
class GroupShape:
    """The constant part of a group.

    Args:
        config: Kafka's keys of the assignment.
        tasks: The ``tasks`` of every document.
        restore_per_s: Offsets that an instance restores in a second, for each task.
        rates: Offsets that each task adds to its changelogs in a second; ``None``: those of its sub-topology.
        first_ends: Offsets of each task's changelogs at the start; ``None``: the backlog of its sub-topology.
        workload: The tasks' weights, in the form of the scenario format; ``None``: unknown.
        added: Number of the last sub-topologies that belong to a later version.
        process_id: Process id of the instance that starts as the n-th one; ``None``: random ones.
    """

    name: str
    config: dict[str, Any]
    tasks: Sequence[StateTask]
    subtopology_of: list[SubTopology]
    machines: Machines
    clients: int
    restore_per_s: int
    rates: Sequence[int] | None = None
    first_ends: Sequence[int] | None = None
    workload: dict[str, Any] | None = None
    added: int = 0
    process_id: Callable[[int], str] | None = None

    def rate(self, task: int) -> int:
        """Offsets that the task with this index adds to its changelogs in a second."""
        return self.subtopology_of[task].writes_per_s if self.rates is None else self.rates[task]

    def first_end(self, task: int) -> int:
        if self.first_ends is not None:
            return self.first_ends[task]
        return self.rate(task) * self.subtopology_of[task].backlog_s


@attrs.frozen
class MachineMaker:
    """Properties of a group's machines.

    Args:
        threads: Threads of each machine, or ``None``: they differ.
    """

    racks: tuple[str, ...]
    clusters: tuple[str, ...]
    threads: int | None
    has_hosts: bool

    def make(self, number: int, draws: Draws) -> InstanceMachine:
        """The machine with ``number``; machines are distributed over the racks in turn, as by autoscaling groups."""
        threads = draws.weighted(_THREADS)
        cluster = draws.below(max(len(self.clusters), 1))
        zones = self.racks or _ZONES
        return InstanceMachine(
            number=number,
            host=f"host-{number}:8080" if self.has_hosts else None,
            rack=self.racks[number % len(self.racks)] if self.racks else None,
            tags={"zone": zones[number % len(zones)], "cluster": self.clusters[cluster]} if self.clusters else {},
            threads=threads if self.threads is None else self.threads,
        )


_ZONES = ("zone-a", "zone-b", "zone-c")


def draw_group_clients(draws: Draws) -> int:
    """Instances of a group at the start, the first draw of :func:`draw_group`."""
    lowest, highest = draws.weighted(_CLIENTS)
    return draws.between(lowest, highest)


def draw_group(draws: Draws, strategy: str) -> GroupShape:
    clients = draw_group_clients(draws)
    cut = tuple(
        (_partitions(draws, clients), draws.percent(60) or number == 0)
        for number in range(draws.weighted(_SUBTOPOLOGIES))
    )
    return _drawn(draws, strategy, cut, clients, None, draws.weighted(_STANDBYS))


def _partitions(draws: Draws, clients: int) -> int:
    partitions = draws.weighted(_PARTITIONS)
    # Most topics have enough partitions for every instance.
    if draws.percent(80):
        while partitions < 2 * clients:
            partitions *= 2
    return partitions


def draw_fixed_group(draws: Draws, strategy: str) -> GroupShape:
    """A group of 4 instances with 2 threads each, 40 tasks and one standby."""
    return _drawn(draws, strategy, draws.pick(_FIXED_CUTS), 4, 2, 1)


def _drawn(
    draws: Draws, strategy: str, cut: tuple[tuple[int, bool], ...], clients: int, threads: int | None, standbys: int
) -> GroupShape:
    name = f"app-{draws.below(10_000):04d}"
    racks = tuple(f"rack-{number}" for number in range(draws.between(2, 4))) if draws.percent(50) else ()
    clusters = (("blue",), ("blue", "green"))[draws.below(2)] if draws.percent(35) else ()
    if threads is None and draws.percent(80):
        threads = draws.weighted(_THREADS)
    subtopologies = [
        _subtopology(draws, name, number, partitions, has_state=has_state)
        for number, (partitions, has_state) in enumerate(cut)
    ]
    return GroupShape(
        name=name,
        config=_config(draws, strategy, clusters, standbys),
        tasks=[
            group_task(subtopology, partition, lambda: sorted(draws.sample(racks, 2)) if racks else [])
            for subtopology in subtopologies
            for partition in range(subtopology.partitions)
        ],
        subtopology_of=[subtopology for subtopology in subtopologies for _ in range(subtopology.partitions)],
        machines=MachineMaker(racks, clusters, threads, draws.percent(40)),
        clients=clients,
        # A slower restoration than the group's writes would never end.
        restore_per_s=max(draws.spread(2_000, 64_000), 4 * max(item.writes_per_s for item in subtopologies)),
    )


def _config(draws: Draws, strategy: str, clusters: tuple[str, ...], standbys: int) -> dict[str, Any]:
    tags = ["zone", "cluster"][: draws.between(1, len(clusters))] if clusters else []
    return {
        "num.standby.replicas": standbys,
        "max.warmup.replicas": draws.weighted(_WARMUPS),
        "acceptable.recovery.lag": draws.weighted(_RECOVERY_LAGS),
        "probing.rebalance.interval.ms": 600_000,
        "rack.aware.assignment.tags": tags,
        "rack.aware.assignment.strategy": strategy,
        "rack.aware.assignment.traffic_cost": None,
        "rack.aware.assignment.non_overlap_cost": None,
    }


def _subtopology(draws: Draws, group: str, number: int, partitions: int, *, has_state: bool) -> SubTopology:
    sources = [f"topic-{number}"]
    if number > 0 and draws.percent(50):
        sources[0] = f"{group}-step-{number}-repartition"
    if draws.percent(25):
        sources.append(f"topic-{number}-joined")
    stores: list[str] = []
    changelogs: list[str] = []
    if has_state:
        stores = [f"store-{number}-{index}" for index in range(draws.between(1, 2))]
        changelogs = [f"{group}-{store}-changelog" for store in stores]
        how = draws.below(100)
        if how < 10:
            changelogs[0] = sources[0]
        elif how < 15:
            changelogs = []
    new = draws.percent(25)
    return SubTopology(
        number=number,
        partitions=partitions,
        sources=tuple(sources),
        stores=tuple(stores),
        changelogs=tuple(changelogs),
        writes_per_s=draws.spread(1, 2_000),
        backlog_s=0 if new else draws.spread(3_600, 7 * _DAY_S),
    )


def group_task(
    subtopology: SubTopology, partition: int, racks: Callable[[], list[str]], topology: str = ""
) -> StateTask:
    """A task of a sub-topology.

    Args:
        racks: Called once for each of its partitions, in their order.
        topology: Name of a named topology with its separator.
    """
    topics = dict.fromkeys((*subtopology.sources, *subtopology.changelogs))
    return StateTask(
        f"{topology}{subtopology.number}_{partition}",
        stateful=bool(subtopology.stores),
        logged=bool(subtopology.changelogs),
        stores=subtopology.stores,
        partitions=[
            StatePartition(topic, partition, topic in subtopology.sources, topic in subtopology.changelogs, racks())
            for topic in topics
        ],
    )
