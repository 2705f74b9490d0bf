"""Groups at known weak spots of assignors; each history draws one of the spots, its *trap*.

=====================  =====================================================================================
trap                   meaning
=====================  =====================================================================================
``equal_lags``         every client has the same lag in every task, so ties decide
``recovery_edges``     lags just below, at and above ``acceptable.recovery.lag``; the largest limit
``one_huge_client``    a client with 32 to 128 threads among clients with one
``around_capacity``    one task less, as many, or one more than a multiple of clients or threads
``hash_order``         12 * 2^k tasks and clients where Java's tables grow, ids with equal hashes and signs
``duplicate_racks``    replicas that share a rack, partitions in racks without clients, all clients in one rack
``no_candidates``      more standbys than other clients, tags with a single value, a single client
``no_lags``            the end offsets cannot be fetched in some of the rounds
=====================  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import attrs

from assignor_lab.scenarios.families.blueprint import ZONES, Blueprint, Fleet, draw_blueprint
from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.events import KEEPING_SIZE, DrawnMembership
from assignor_lab.scenarios.families.schedules import random_events, run_schedule
from assignor_lab.scenarios.families.shape import GroupShape, SubTopology, group_task
from assignor_lab.scenarios.families.streams_history import StreamsFamilyHistory
from assignor_lab.scenarios.state_parts import StatePartition

__all__ = ["TRAPS", "adversarial_history"]

_LONG_MAX = 2**63 - 1
#: Lags of tasks in traps of ties and of the recovery lag's edges.
_LAGS = (0, 1, 9_999, 10_000, 10_001, 20_000)


def _small(draws: Draws, tasks: tuple[int, ...], clients: int, threads: int = 1) -> GroupShape:
    """A group of an exact size: a sub-topology with state, and one without for each further number of tasks."""
    group = draw_blueprint(draws, Blueprint(racks=0, tags=0, mixed_threads=0))
    subtopologies = [
        SubTopology(
            number=number,
            partitions=partitions,
            sources=(f"topic-{number}",),
            stores=(f"store-{number}",) if number == 0 else (),
            changelogs=(f"{group.name}-store-{number}-changelog",) if number == 0 else (),
            writes_per_s=draws.spread(1, 2_000),
            backlog_s=3_600,
        )
        for number, partitions in enumerate(tasks)
    ]
    subtopology_of = [item for item in subtopologies for _ in range(item.partitions)]
    made = [group_task(item, partition, list) for item in subtopologies for partition in range(item.partitions)]
    weight = {"state_bytes": 1 << 30, "input_bytes_per_s": 1 << 20, "weight": 1}
    return attrs.evolve(
        group,
        tasks=made,
        subtopology_of=subtopology_of,
        machines=Fleet((), (), ((1, threads),), has_hosts=True),
        clients=clients,
        restore_per_s=4 * max(item.writes_per_s for item in subtopologies),
        rates=None,
        workload={
            "tasks": {task.id: weight if task.logged else {**weight, "state_bytes": 0} for task in made},
            "restore_bytes_per_s": 50 << 20,
        },
    )


def _with(group: GroupShape, **config: Any) -> GroupShape:
    return attrs.evolve(group, config={**group.config, **config})


def _equal_lags(draws: Draws) -> GroupShape:
    group = _small(draws, (draws.between(4, 40),), draws.between(2, 12))
    lag = draws.pick(_LAGS)
    # Without restorations and writes all lags stay unchanged.
    still = attrs.evolve(group, rates=[0] * len(group.tasks), first_ends=[lag] * len(group.tasks), restore_per_s=0)
    return _with(still, **{"num.standby.replicas": draws.between(0, 2), "max.warmup.replicas": draws.pick((1, 2, 50))})


def _recovery_edges(draws: Draws) -> GroupShape:
    group = _small(draws, (draws.between(4, 40), draws.between(1, 6)), draws.between(2, 12))
    limit = draws.pick((0, 1, 10_000, _LONG_MAX))
    edges = [max(min(limit, 10_000) + step, 0) for step in (-1, 0, 1)]
    ends = [draws.pick(edges) for _ in group.tasks]
    still = attrs.evolve(group, rates=[0] * len(ends), first_ends=ends, restore_per_s=draws.pick((0, 1, 1_000)))
    return _with(still, **{"acceptable.recovery.lag": limit, "num.standby.replicas": draws.between(0, 2)})


@attrs.frozen
class _OneHuge:
    usual: Fleet
    huge: int

    def make(self, number: int, draws: Draws) -> Any:
        machine = self.usual.make(number, draws)
        return attrs.evolve(machine, threads=self.huge) if number == 0 else machine


def _one_huge_client(draws: Draws) -> GroupShape:
    group = _small(draws, (draws.between(20, 100), draws.between(5, 40)), draws.between(3, 12))
    fleet = _OneHuge(Fleet((), (), ((1, 1),), has_hosts=False), draws.pick((32, 64, 128)))
    return attrs.evolve(group, machines=fleet)


def _around_capacity(draws: Draws) -> GroupShape:
    clients, threads = draws.between(2, 12), draws.pick((1, 2, 4))
    tasks = max(clients * draws.pick((1, threads)) * draws.between(1, 4) + draws.between(-1, 1), 1)
    return _with(_small(draws, (tasks,), clients, threads), **{"num.standby.replicas": draws.between(0, 2)})


def _hash_order(draws: Draws) -> GroupShape:
    tasks = max((12 << draws.below(4)) + draws.between(-1, 1), 1)
    group = _small(draws, (tasks, draws.pick((1, 12))), draws.pick((11, 12, 13, 23, 24, 25)))
    half = draws.below(1 << 32)
    kind = draws.below(3)

    def process_id(number: int) -> str:
        # A UUID's hash is the exclusive or of its four words, so two equal halves have hash 0.
        if kind == 0:
            word = number << 1 | 1
            return str(UUID(int=word << 96 | half << 64 | word << 32 | half))
        if kind == 1:  # Java orders ids by signed halves
            return str(UUID(int=(number << 127 | number << 64 | (number * 7919) << 48 | half) & (1 << 128) - 1))
        return str(UUID(int=number + 1))

    return attrs.evolve(group, process_id=process_id)


def _duplicate_racks(draws: Draws) -> GroupShape:
    group = _small(draws, (draws.between(4, 30), draws.between(2, 10)), draws.between(2, 10))
    everywhere = draws.percent(30)
    racks = ZONES[:1] if everywhere else ZONES[:3]

    def placed(partition: StatePartition) -> StatePartition:
        rack = draws.pick((*racks, "zone-without-clients"))
        return attrs.evolve(partition, racks=[rack, rack] if draws.percent(60) else [rack, draws.pick(racks)])

    tasks = [attrs.evolve(task, partitions=list(map(placed, task.partitions or ()))) for task in group.tasks]
    strategy = draws.pick(("none", "min_traffic", "balance_subtopology"))
    machines = Fleet(racks, (), ((1, 1),), has_hosts=True)
    return _with(
        attrs.evolve(group, tasks=tasks, machines=machines),
        **{"rack.aware.assignment.strategy": strategy, "num.standby.replicas": draws.between(0, 2)},
    )


def _no_candidates(draws: Draws) -> GroupShape:
    clients = draws.between(1, 4)
    group = _small(draws, (draws.between(1, 20), draws.between(1, 6)), clients)
    tags = ["zone", "cluster"][: draws.between(0, 2)]
    machines = Fleet(ZONES[:1], ("blue",), ((1, draws.between(1, 3)),), has_hosts=True)
    return _with(
        attrs.evolve(group, machines=machines),
        **{"num.standby.replicas": clients - 1 + draws.between(0, 3), "rack.aware.assignment.tags": tags},
    )


def _no_lags(draws: Draws) -> GroupShape:
    return draw_blueprint(draws, Blueprint(racks=0, tags=20))


TRAPS: dict[str, Callable[[Draws], GroupShape]] = {
    "equal_lags": _equal_lags,
    "recovery_edges": _recovery_edges,
    "one_huge_client": _one_huge_client,
    "around_capacity": _around_capacity,
    "hash_order": _hash_order,
    "duplicate_racks": _duplicate_racks,
    "no_candidates": _no_candidates,
    "no_lags": _no_lags,
}


def adversarial_history(seed: int, rounds: int) -> StreamsFamilyHistory:
    """The history of a seed: a group in one of the traps, with small events."""
    draws = Draws("adversarial", seed, "group")
    trap = draws.pick(tuple(TRAPS))
    group = TRAPS[trap](draws)
    steps = run_schedule(
        group, Draws("adversarial", seed, "events"), rounds, random_events((*KEEPING_SIZE, *_ONE_MORE_OR_LESS))
    )
    if trap == "no_lags":
        steps = tuple(attrs.evolve(step, lags_known=number not in (1, 3)) for number, step in enumerate(steps))
    return StreamsFamilyHistory(f"adversarial-{seed}", group, steps)


def _one_more(membership: DrawnMembership) -> None:
    membership.join()


def _one_less(membership: DrawnMembership) -> None:
    if len(membership.members) > 1:
        membership.take_out()


_ONE_MORE_OR_LESS = ((15, _one_more), (15, _one_less))
