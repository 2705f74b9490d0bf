"""Public sticky on dense indices: keep, promote, fill up; then standbys (Kafka: ``StickyTaskAssignor``).

Each half changes a :class:`StickyPlacement`, so that an optimiser can run between them. Cost: about one bit operation
of C bits per placed task and per group of equally loaded clients. Kafka's cost grows with the square of the tasks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from assignment_api.errors import NoCapacityError
from assignment_api.java import JavaHashTable
from builtin_assignors._steps_taken import SILENT
from builtin_assignors._sticky_steps import (
    LoadRule,
    PreviousOwners,
    StickyPlacement,
    StickyProblem,
    StickySteps,
    check_number_of_tasks,
    client_map_order,
    keep_previous_owners,
    place_remaining,
    promote_previous_standbys,
    unassigned_if_plain,
)
from builtin_assignors._sticky_steps import place_standbys as _place_standbys
from builtin_assignors.sticky.share import NO_THREADS, ShareRule

__all__ = ["client_order", "place_actives", "place_standbys"]


def client_order(clients: Sequence[int], hashes: Sequence[int], rank_of: Callable[[int], int]) -> list[int]:
    """Order of the clients: the application's map is a copy of the leader's map."""
    return client_map_order(client_map_order(clients, hashes, rank_of), hashes, rank_of)


def place_actives(
    problem: StickyProblem, previous: PreviousOwners, rule: ShareRule, steps: StickySteps = SILENT
) -> StickyPlacement:
    """Give every task an owner by the share of a release; ``steps`` records the work of each rule, if given.

    Raises:
        IllegalAssignmentArgumentError: for more tasks than Kafka can pair.
        NoCapacityError: if the clients have no threads; since Kafka 4.4 only if a previous client has to be judged.
    """
    check_number_of_tasks(len(problem.tasks))
    if problem.tasks and not problem.capacities:
        raise NoCapacityError(NO_THREADS)
    quotas = rule.shares(len(problem.tasks), problem.capacities)
    placement = StickyPlacement(len(problem.task_hashes), problem.capacities, _LOAD_RULE)
    kept = keep_previous_owners(problem, previous, placement, quotas)
    steps.kept(previous, placement, quotas, rule.words)
    if previous.has_standbys():
        promote_previous_standbys(_unassigned(problem, kept), previous, placement, quotas)
        steps.promoted(placement)
    clients = range(len(problem.capacities))
    candidates = client_map_order(clients, problem.client_hashes, problem.client_ranks.__getitem__)
    place_remaining(problem, previous, placement, candidates, steps)
    return placement


def place_standbys(problem: StickyProblem, previous: PreviousOwners, placement: StickyPlacement) -> None:
    """Give every task with a changelog its standbys, as long as there are clients.

    Kafka's own order differs from run to run; this is the canonical one, that of a set of task ids.
    """
    _place_standbys(problem, previous, placement, problem.orders.stateful_of_set_from_map)


def _load(tasks: int, threads: int) -> float:
    if threads == 0:
        return math.inf if tasks else math.nan  # as Java divides
    return tasks / threads


_LOAD_RULE = LoadRule(_load, is_idle_without_threads=False)


def _unassigned(problem: StickyProblem, kept: Sequence[int]) -> list[int]:
    """The tasks that left their owner, in the order of Kafka's set, from which tasks are removed one by one."""
    plain = unassigned_if_plain(problem, kept)
    if plain is not None:
        return plain
    hashes = problem.task_hashes
    table = JavaHashTable.set_copy(problem.orders.of_map, hashes.__getitem__, jdk=problem.jdk)
    for task in kept:
        table.remove(task)
    return list(table)
