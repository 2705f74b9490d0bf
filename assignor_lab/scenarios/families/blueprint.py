"""Blueprints of the families by event, and the groups drawn from them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import attrs

from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.shape import GroupShape, InstanceMachine, SubTopology, group_task
from assignor_lab.scenarios.families.sizes import draw_clients, draw_partitions, draw_subtopologies
from assignor_lab.scenarios.state_parts import StateTask

__all__ = ["ZONES", "Blueprint", "Fleet", "draw_blueprint"]

ZONES = ("zone-a", "zone-b", "zone-c", "zone-d")
_CLUSTERS = ("blue", "green", "red")
_THREADS = ((35, 1), (30, 2), (25, 4), (10, 8))
_MIXED_THREADS = ((30, 1), (25, 2), (20, 4), (15, 8), (6, 16), (4, 32))
_STANDBYS = ((45, 0), (45, 1), (10, 2))
_WARMUPS = ((75, 2), (10, 1), (15, 4))
_RECOVERY_LAGS = ((80, 10_000), (10, 1_000), (10, 100_000))
_DAY_S = 86_400
_MAX_STATE_BYTES = 64 << 30


@attrs.frozen
class Blueprint:
    """Properties of a family's groups; chances are in percent.

    Args:
        racks: Chance of configured racks (zones).
        rackless_clients: Chance of each client to have no rack in a group with racks.
        rackless_partitions: Chance of each partition to have unknown racks in a group with racks.
        tags: Chance of client tags.
        tag_gaps: Chance of each client to lack a tag in a group with tags.
        standbys: Weights of ``num.standby.replicas``.
        mixed_threads: Chance of instances with different numbers of threads.
        skewed: True if a few tasks do most of the work.
        added: Most sub-topologies of a later version.
        named: Chance of named topologies.
        strategies: Weights of ``rack.aware.assignment.strategy``.
    """

    racks: int = 50
    rackless_clients: int = 0
    rackless_partitions: int = 0
    tags: int = 30
    tag_gaps: int = 0
    standbys: Sequence[tuple[int, int]] = _STANDBYS
    mixed_threads: int = 15
    skewed: bool = False
    added: int = 0
    named: int = 0
    strategies: Sequence[tuple[int, str]] = ((1, "none"),)


@attrs.frozen
class Fleet:
    """The machines of a group, distributed over the zones in turn, as by autoscaling groups.

    Args:
        racks: Racks, empty if not configured.
        has_hosts: True if ``application.server`` is set.
    """

    racks: tuple[str, ...]
    clusters: tuple[str, ...]
    threads: Sequence[tuple[int, int]]
    has_hosts: bool
    rackless: int = 0
    tag_gaps: int = 0

    def make(self, number: int, draws: Draws) -> InstanceMachine:
        zones = self.racks or ZONES[:3]
        tags = {"zone": zones[number % len(zones)], "cluster": draws.pick(self.clusters)} if self.clusters else {}
        if tags and draws.percent(self.tag_gaps):
            del tags[draws.pick(("zone", "cluster"))]
        rackless = draws.percent(self.rackless)
        return InstanceMachine(
            number=number,
            host=f"host-{number}:8080" if self.has_hosts else None,
            rack=self.racks[number % len(self.racks)] if self.racks and not rackless else None,
            tags=tags,
            threads=draws.weighted(self.threads),
        )


def draw_blueprint(draws: Draws, blueprint: Blueprint) -> GroupShape:
    """A group of ``blueprint``, with a size from the documented distribution."""
    clients = draw_clients(draws)
    name = f"app-{draws.below(10_000):04d}"
    racks = ZONES[: draws.between(2, 4)] if draws.percent(blueprint.racks) else ()
    clusters = _CLUSTERS[: draws.between(1, 3)] if draws.percent(blueprint.tags) else ()
    number = draw_subtopologies(draws, clients)
    added = draws.between(1, blueprint.added) if blueprint.added else 0
    subtopologies = [
        _subtopology(draws, name, index, draw_partitions(draws, clients, number), index == 0 or draws.percent(60))
        for index in range(number)
    ]
    subtopologies += [
        attrs.evolve(
            _subtopology(draws, name, index, draw_partitions(draws, min(clients, 16), 1), draws.percent(60)),
            backlog_s=0,
        )
        for index in range(number, number + added)
    ]
    topology = "flow__" if draws.percent(blueprint.named) else ""
    racks_of = partial(_racks, draws, racks, blueprint.rackless_partitions)
    tasks = [
        group_task(subtopology, partition, racks_of, topology)
        for subtopology in subtopologies
        for partition in range(subtopology.partitions)
    ]
    subtopology_of = [subtopology for subtopology in subtopologies for _ in range(subtopology.partitions)]
    factors = _skewed_percent(draws, subtopology_of) if blueprint.skewed else _even_percent(draws, subtopology_of)
    rates = [max(item.writes_per_s * factor // 100, 1) for item, factor in zip(subtopology_of, factors, strict=True)]
    # A slower restoration than the group's writes would never end.
    restore_per_s = max(draws.spread(2_000, 64_000), 4 * max(rates))
    threads = _MIXED_THREADS if draws.percent(blueprint.mixed_threads) else ((1, draws.weighted(_THREADS)),)
    return GroupShape(
        name=name,
        config=_config(draws, blueprint, clusters),
        tasks=tasks,
        subtopology_of=subtopology_of,
        machines=Fleet(racks, clusters, threads, draws.percent(40), blueprint.rackless_clients, blueprint.tag_gaps),
        clients=clients,
        restore_per_s=restore_per_s,
        rates=rates,
        workload=_workload(draws, tasks, subtopology_of, rates, restore_per_s),
        added=added,
    )


def _config(draws: Draws, blueprint: Blueprint, clusters: Sequence[str]) -> dict[str, Any]:
    return {
        "num.standby.replicas": draws.weighted(blueprint.standbys),
        "max.warmup.replicas": draws.weighted(_WARMUPS),
        "acceptable.recovery.lag": draws.weighted(_RECOVERY_LAGS),
        "probing.rebalance.interval.ms": 600_000,
        "rack.aware.assignment.tags": ["zone", "cluster"][: draws.between(1, 2)] if clusters else [],
        "rack.aware.assignment.strategy": draws.weighted(blueprint.strategies),
        "rack.aware.assignment.traffic_cost": None,
        "rack.aware.assignment.non_overlap_cost": None,
    }


def _subtopology(draws: Draws, group: str, number: int, partitions: int, has_state: bool) -> SubTopology:  # noqa: FBT001 - one of many
    is_internal = number > 0 and draws.percent(50)
    sources = [f"{group}-step-{number}-repartition" if is_internal else f"topic-{number}"]
    if draws.percent(25):
        sources.append(f"topic-{number}-joined")
    stores = [f"store-{number}-{index}" for index in range(draws.between(1, 2))] if has_state else []
    changelogs = [f"{group}-{store}-changelog" for store in stores]
    how = draws.below(100)
    if stores and how < 10:
        changelogs[0] = sources[0]  # a table with its source topic as changelog
    elif stores and how < 15:
        changelogs = []  # logging is disabled
    return SubTopology(
        number=number,
        partitions=partitions,
        sources=tuple(sources),
        stores=tuple(stores),
        changelogs=tuple(changelogs),
        writes_per_s=draws.spread(1, 2_000),
        backlog_s=0 if draws.percent(25) else draws.spread(3_600, 7 * _DAY_S),
    )


def _racks(draws: Draws, racks: Sequence[str], unknown: int) -> list[str]:
    return [] if draws.percent(unknown) else sorted(draws.sample(racks, min(3, max(len(racks) - 1, 1))))


# --- workload -------------------------------------------------------------------------------------


def _even_percent(draws: Draws, subtopology_of: Sequence[SubTopology]) -> list[int]:
    return [draws.between(80, 120) for _ in subtopology_of]


def _skewed_percent(draws: Draws, subtopology_of: Sequence[SubTopology]) -> list[int]:
    """Shares of a Zipf-like law within each sub-topology, on tasks in random order; the mean is about 100."""
    factors: list[int] = []
    start = 0
    while start < len(subtopology_of):
        partitions = subtopology_of[start].partitions
        law = [1_000 // rank for rank in range(1, partitions + 1)]
        mean = max(sum(law) // partitions, 1)
        factors.extend(100 * share // mean for share in draws.sample(law, partitions))
        start += partitions
    return factors


def _workload(
    draws: Draws,
    tasks: Sequence[StateTask],
    subtopology_of: Sequence[SubTopology],
    rates: Sequence[int],
    restore_per_s: int,
) -> dict[str, Any]:
    """The tasks' weights: records of one size in each group, state of an hour to a week of writes, at most 64 GiB."""
    record_bytes = draws.spread(64, 4_096)
    mean = max(sum(rates) // len(rates), 1)
    return {
        "tasks": {
            task.id: {
                "state_bytes": min(rate * max(item.backlog_s, 3_600) * record_bytes, _MAX_STATE_BYTES)
                if item.changelogs
                else 0,
                "input_bytes_per_s": rate * record_bytes,
                "weight": (100 * rate // mean) / 100,
            }
            for task, item, rate in zip(tasks, subtopology_of, rates, strict=True)
        },
        "restore_bytes_per_s": restore_per_s * record_bytes,
    }
