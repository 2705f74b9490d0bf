"""Active tasks: kept, promoted from standbys, and the rest on the emptiest processes (reference 3.3)."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_assignors._group_sticky_steps.placement import Placement
from builtin_assignors._group_sticky_steps.problem import Problem, TaskWithoutProcess
from builtin_assignors._group_sticky_steps.queues import ProcessQueue, turns
from builtin_assignors._group_sticky_steps.quota import Quota

__all__ = ["place_actives"]


def place_actives(
    problem: Problem, placement: Placement, by_partition: Sequence[int], active_quota: Quota, total_quota: Quota
) -> None:
    """Gives every task an owner.

    Args:
        problem: The input.
        placement: Nothing is placed yet.
        by_partition: All tasks by partition, then sub-topology.
        active_quota: Of active tasks.
        total_quota: Of all tasks; it notices who fills up.

    Raises:
        TaskWithoutProcess: if there are tasks and no members.
    """
    _keep_owners(problem, placement, by_partition, active_quota, total_quota)
    if problem.previous_standbys:
        _promote_standbys(problem, placement, by_partition, active_quota, total_quota)
    rest = [task for task, owner in enumerate(placement.owners) if owner < 0]
    if rest:
        _place_rest(problem, placement, rest, total_quota)


def _keep_owners(
    problem: Problem, placement: Placement, by_partition: Sequence[int], active_quota: Quota, total_quota: Quota
) -> None:
    owners, counts, previous = placement.owners, placement.counts, problem.previous_actives
    active_each, total_each = active_quota.each, total_quota.each
    for task in by_partition:
        member = previous[task]
        if member < 0 or counts[member] >= active_each:
            continue
        owners[task] = member
        counts[member] = count = counts[member] + 1
        if count == active_each:
            active_each = active_quota.reached()
        if count == total_each:
            total_each = total_quota.reached()


def _promote_standbys(
    problem: Problem, placement: Placement, by_partition: Sequence[int], active_quota: Quota, total_quota: Quota
) -> None:
    owners, counts, previous = placement.owners, placement.counts, problem.previous_standbys
    choose, processes = problem.rules.choose, placement.processes
    for task in by_partition:
        if owners[task] >= 0 or task not in previous:
            continue
        candidates = previous[task]
        member = candidates[0] if len(candidates) == 1 else choose(placement, candidates, ())
        if counts[member] >= active_quota.each:
            continue
        owners[task] = member
        count = processes.give_to(member)
        if count == active_quota.each:
            active_quota.reached()
        if count == total_quota.each:
            total_quota.reached()


def _place_rest(problem: Problem, placement: Placement, rest: Sequence[int], total_quota: Quota) -> None:
    order = problem.rules.process_order(problem.members)
    if not order:
        raise TaskWithoutProcess(rest[0])
    owners, counts, processes = placement.owners, placement.counts, placement.processes
    # The active quota is not asked any more. That of all tasks has to know who fills up.
    total_each = total_quota.each
    if processes.are_equals:
        for task, process in zip(rest, turns(order), strict=False):
            owners[task] = member = processes.give_least(process)
            if counts[member] == total_each:
                total_each = total_quota.reached()
        return
    loads = processes.loads
    queue = ProcessQueue(order, loads)
    for task in rest:
        process = queue.poll()
        owners[task] = member = processes.give_least(process)
        if counts[member] == total_each:
            total_each = total_quota.reached()
        queue.add(process, loads[process])
