"""Groups at known weak spots of the brokers' sticky assignor; each history draws one of the spots, its *trap*.

=======================  ===================================================================================
trap                     meaning
=======================  ===================================================================================
``overlooked_standbys``  several standbys of a task on processes of several members (KAFKA-20899)
``shared_quota``         few tasks with state among many without: one quota for both (KAFKA-21060)
``swinging_standbys``    standbys that do not divide evenly, assigned repeatedly (KAFKA-21166)
``uneven_processes``     a process with 16 to 48 members among processes with one: quotas count members
``text_order``           11 to 14 small sub-topologies: ``"10"`` comes before ``"2"``
``too_few_processes``    as many standbys as processes, or more; a single process
``equal_hashes``         members and processes whose ids have equal hash codes in Java
``around_quota``         one task less, as many, or one more than a multiple of the members
``state_and_no_target``  all instances restart: disks hold more than a member's share
``forgotten_tasks``      a topic loses partitions and gets them again: targets name missing tasks
=======================  ===================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from assignor_lab.scenarios.families.blueprint import ZONES, Fleet
from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.events import KEEPING_SIZE, DrawnMembership, DrawnStep, Event
from assignor_lab.scenarios.families.growing_topics import partitions_that_come_later, with_growing_topics
from assignor_lab.scenarios.families.schedules import (
    FIRST_EVENT,
    Schedule,
    ScheduledStep,
    bounce,
    join_and_leave,
    nothing,
    random_events,
    run_schedule,
)
from assignor_lab.scenarios.families.shape import GroupShape, InstanceMachine, SubTopology, group_task
from assignor_lab.scenarios.families.streams_group_history import StreamsGroupHistory, as_brokers_have_it, member_id_of

__all__ = ["GROUP_TRAPS", "trap_history"]


@attrs.frozen
class Trap:
    """A group at a weak spot."""

    group: GroupShape
    schedule: Schedule
    equal_hashes: bool = False


def _exact(draws: Draws, cut: Sequence[tuple[int, bool]], processes: int, members: int, standbys: int) -> GroupShape:
    name = f"app-{draws.below(10_000):04d}"
    subtopologies = [
        SubTopology(
            number=number,
            partitions=partitions,
            sources=(f"topic-{number}",),
            stores=(f"store-{number}",) if has_state else (),
            changelogs=(f"{name}-store-{number}-changelog",) if has_state else (),
            writes_per_s=draws.spread(1, 2_000),
            backlog_s=3_600,
        )
        for number, (partitions, has_state) in enumerate(cut)
    ]
    return GroupShape(
        name=name,
        config={"num.standby.replicas": standbys, "probing.rebalance.interval.ms": 600_000},
        tasks=[group_task(item, partition, list) for item in subtopologies for partition in range(item.partitions)],
        subtopology_of=[item for item in subtopologies for _ in range(item.partitions)],
        machines=Fleet((), (), ((1, members),), has_hosts=True),
        clients=processes,
        restore_per_s=draws.pick((1_000, 16_000)) + 4 * max(item.writes_per_s for item in subtopologies),
    )


def _overlooked_standbys(draws: Draws) -> Trap:
    cut = ((draws.between(6, 40), True), (draws.between(1, 6), False))
    return Trap(_exact(draws, cut, draws.between(4, 8), draws.between(2, 4), 2), random_events(_SMALL_EVENTS))


def _shared_quota(draws: Draws) -> Trap:
    processes, members = draws.between(3, 8), draws.between(1, 3)
    stateful = max(processes * members // draws.between(1, 2), 2)
    cut = ((stateful, True), (stateful * draws.between(3, 8), False))
    return Trap(_exact(draws, cut, processes, members, draws.between(0, 1)), random_events(_SMALL_EVENTS))


def _swinging_standbys(draws: Draws) -> Trap:
    processes = draws.between(3, 9)
    cut = ((processes * draws.between(2, 4) + draws.between(1, processes - 1), True),)
    schedule = draws.pick((nothing, join_and_leave))
    return Trap(_exact(draws, cut, processes, draws.between(1, 3), draws.between(1, 2)), schedule)


@attrs.frozen
class _OneHuge:
    """A fleet with one large machine among small ones."""

    usual: Fleet
    huge: int

    def make(self, number: int, draws: Draws) -> InstanceMachine:
        machine = self.usual.make(number, draws)
        return attrs.evolve(machine, threads=self.huge) if number == 0 else machine


def _uneven_processes(draws: Draws) -> Trap:
    cut = ((draws.between(20, 80), True), (draws.between(5, 30), False))
    group = _exact(draws, cut, draws.between(3, 10), 1, draws.between(0, 2))
    fleet = _OneHuge(Fleet((), (), ((1, 1),), has_hosts=False), draws.pick((16, 32, 48)))
    return Trap(attrs.evolve(group, machines=fleet), random_events(_SMALL_EVENTS))


def _text_order(draws: Draws) -> Trap:
    cut = [(draws.between(1, 3), draws.percent(60)) for _ in range(draws.between(11, 14))]
    return Trap(_exact(draws, cut, draws.between(2, 8), draws.between(1, 2), 1), random_events(_SMALL_EVENTS))


def _too_few_processes(draws: Draws) -> Trap:
    processes = draws.between(1, 3)
    cut = ((draws.between(1, 20), True), (draws.between(1, 6), False))
    group = _exact(draws, cut, processes, draws.between(1, 3), processes + draws.below(2))
    fleet = Fleet(ZONES[:1], ("blue",), ((1, draws.between(1, 3)),), has_hosts=True)
    return Trap(attrs.evolve(group, machines=fleet), random_events(_SMALL_EVENTS))


def _equal_hashes(draws: Draws) -> Trap:
    group = _exact(draws, ((draws.pick((11, 12, 13, 24, 48)), True),), draws.pick((5, 11, 12, 13)), 1, 1)
    return Trap(attrs.evolve(group, process_id=_equally_hashed), random_events(_SMALL_EVENTS), equal_hashes=True)


def _around_quota(draws: Draws) -> Trap:
    processes, members = draws.between(2, 10), draws.pick((1, 2, 4))
    tasks = max(processes * members * draws.between(1, 4) + draws.between(-1, 1), 1)
    return Trap(_exact(draws, ((tasks, True),), processes, members, draws.between(0, 2)), random_events(_SMALL_EVENTS))


def _state_and_no_target(draws: Draws) -> Trap:
    processes = draws.between(3, 9)
    cut = ((processes * draws.between(2, 5), True), (draws.between(1, 8), False))
    return Trap(_exact(draws, cut, processes, draws.between(1, 2), draws.between(0, 2)), _grow_and_restart)


def _forgotten_tasks(draws: Draws) -> Trap:
    cut = ((draws.between(4, 20), True), (draws.between(2, 12), False))
    group = with_growing_topics(draws, _exact(draws, cut, draws.between(2, 8), draws.between(1, 2), 1))
    return Trap(group, _losing_partitions)


GROUP_TRAPS: dict[str, Callable[[Draws], Trap]] = {
    "overlooked_standbys": _overlooked_standbys,
    "shared_quota": _shared_quota,
    "swinging_standbys": _swinging_standbys,
    "uneven_processes": _uneven_processes,
    "text_order": _text_order,
    "too_few_processes": _too_few_processes,
    "equal_hashes": _equal_hashes,
    "around_quota": _around_quota,
    "state_and_no_target": _state_and_no_target,
    "forgotten_tasks": _forgotten_tasks,
}


def trap_history(seed: int, rounds: int) -> StreamsGroupHistory:
    """The history of a seed: a group in one of the traps."""
    draws = Draws("group_adversarial", seed, "group")
    trap = GROUP_TRAPS[draws.pick(tuple(GROUP_TRAPS))](draws)
    steps = run_schedule(trap.group, Draws("group_adversarial", seed, "events"), rounds, trap.schedule)
    return StreamsGroupHistory(
        f"group_adversarial-{seed}",
        as_brokers_have_it(trap.group),
        steps,
        member_id=_member_ids(steps) if trap.equal_hashes else member_id_of,
    )


def _equally_hashed(number: int) -> str:
    """The n-th of 4,096 texts with one hash code in Java, where ``"Aa"`` and ``"BB"`` have the same."""
    return "".join("BB" if number >> place & 1 else "Aa" for place in range(12))


def _member_ids(steps: Sequence[DrawnStep]) -> Callable[[str], str]:
    consumers = dict.fromkeys(consumer for step in steps for session in step.members for consumer in session.consumers)
    return {consumer: _equally_hashed(number) for number, consumer in enumerate(consumers)}.__getitem__


# --- what happens ---------------------------------------------------------------------------------


def _one_more(membership: DrawnMembership) -> None:
    membership.join()


def _one_less(membership: DrawnMembership) -> None:
    if len(membership.members) > 1:
        membership.take_out()


_SMALL_EVENTS: tuple[tuple[int, Event], ...] = (*KEEPING_SIZE, (15, _one_more), (15, _one_less))


def _grow_and_restart(group: GroupShape, _draws: Draws) -> ScheduledStep:
    """All instances restart with their disks, and half as many join: disks hold more than a member's share."""

    def happen(number: int, membership: DrawnMembership) -> frozenset[int]:
        if number == FIRST_EVENT:
            everybody = frozenset(session.machine.number for session in membership.members)
            bounce(membership, everybody, disk_kept=True)
            for _ in range(group.clients // 2 + 1):
                membership.join()
        return frozenset()

    return happen


def _losing_partitions(group: GroupShape, _draws: Draws) -> ScheduledStep:
    """A topic is created again with fewer partitions, and two rounds later it has them again."""
    later = partitions_that_come_later(group)

    def happen(number: int, _membership: DrawnMembership) -> frozenset[int]:
        return frozenset(later) if FIRST_EVENT <= number < FIRST_EVENT + 2 else frozenset()

    return happen
