"""Placement of standby tasks (Kafka: ``LegacyStickyTaskAssignor``), on dense indices.

Kafka stores the pairs of tasks that met. Here the tasks that a task met are the union of the tasks of its clients.
That is equivalent: from the active steps to the end of this one, tasks only ever join a client
(:meth:`StickyPlacement.met_by_active`).
"""

from __future__ import annotations

from collections.abc import Iterable

from builtin_assignors._sticky_steps.choosing import choose_previous
from builtin_assignors._sticky_steps.placement import StickyPlacement
from builtin_assignors._sticky_steps.previous import PreviousOwners
from builtin_assignors._sticky_steps.problem import StickyProblem
from builtin_assignors._sticky_steps.ranking import RankedClients
from builtin_assignors._sticky_steps.standby_candidates import StandbyCandidates

__all__ = ["place_standbys"]


def place_standbys(
    problem: StickyProblem, previous: PreviousOwners, placement: StickyPlacement, stateful_tasks: Iterable[int]
) -> None:
    """Give each stateful task its standbys, as long as there are clients without it.

    Args:
        placement: Receives the standbys; every task has an owner.
        stateful_tasks: The tasks in the order of placing.
    """
    if problem.num_standbys <= 0:
        return
    candidates = StandbyCandidates(problem, placement)
    everything = 0
    for tasks in placement.tasks:
        everything |= tasks
    clients = len(problem.capacities)
    if problem.num_standbys == 1 or clients <= 2:
        ranking = candidates.common_ranking(1) if clients > 1 else None
        for task in stateful_tasks if clients > 1 else ():
            suited = ranking or candidates.ranking(1, 1 << placement.owner[task])
            _place_standby_of(task, everything, suited, candidates, previous, placement)
        return
    for task in stateful_tasks:
        _place_standbys_of(task, problem.num_standbys, everything, candidates, previous, placement)


def _place_standby_of(
    task: int,
    everything: int,
    ranking: RankedClients | None,
    candidates: StandbyCandidates,
    previous: PreviousOwners,
    placement: StickyPlacement,
) -> None:
    """Place the only standby of a task: fast path of :func:`_place_standbys_of` for the most common case."""
    owner = placement.owner[task]
    unpaired = everything & ~(placement.met_by_active(task) | 1 << task)
    client: int | None = None
    last_owner = previous.active.get(task)
    if len(placement.counts) > 2 and (last_owner is not None or previous.has_standby(task)):
        if last_owner is not None and last_owner != owner and not placement.is_overloaded(last_owner):
            client = last_owner
        else:
            last_standbys = previous.standby_clients_copied(task)
            if owner in last_standbys:
                last_standbys = [client for client in last_standbys if client != owner]
            client = choose_previous(None, last_standbys, placement, unpaired)
    if client is None and ranking is not None:
        client = ranking.least_loaded(ranking.all ^ ranking.bits[owner], placement.tasks, unpaired)
    elif client is None:
        client = placement.least_loaded_of(candidates.listed((owner,)), unpaired)
    assert client is not None  # there are at least two clients
    placement.put_standby(task, client)


def _place_standbys_of(
    task: int,
    wanted: int,
    everything: int,
    candidates: StandbyCandidates,
    previous: PreviousOwners,
    placement: StickyPlacement,
) -> None:
    clients = len(placement.counts)
    holders = [placement.owner[task]]
    excluded = 1 << holders[0]
    unpaired = everything & ~(placement.met_by_active(task) | 1 << task)
    last_owner = previous.active.get(task)
    last_standbys = [client for client in previous.standby_clients_copied(task) if client != holders[0]]
    ranking: RankedClients | None = None
    free = 0
    for _ in range(min(wanted, clients - 1)):
        suited = candidates.ranking(len(holders), excluded)
        if suited is not None and suited is not ranking:
            free = suited.all
            for holder in holders:
                free ^= suited.bits[holder]
        ranking = suited
        client: int | None = None
        if clients - len(holders) > 1:
            owner = None if last_owner in holders else last_owner
            client = choose_previous(owner, last_standbys, placement, unpaired)
        if client is None and ranking is not None:
            client = ranking.least_loaded(free, placement.tasks, unpaired)
        elif client is None:
            client = placement.least_loaded_of(candidates.listed(holders), unpaired)
        assert client is not None
        unpaired &= ~placement.tasks[client]
        placement.put_standby(task, client)
        holders.append(client)
        excluded |= 1 << client
        if ranking is not None:
            free ^= ranking.bits[client]
        if client in last_standbys:
            last_standbys.remove(client)
