"""Standby tasks: kept where they were as far as the quota allows, the rest on the emptiest processes (reference 3.4)."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_assignors._group_sticky_steps.placement import Placement
from builtin_assignors._group_sticky_steps.problem import Problem
from builtin_assignors._group_sticky_steps.queues import ProcessQueue
from builtin_assignors._group_sticky_steps.quota import Quota

__all__ = ["place_standbys"]

_NOBODY: Sequence[int] = ()


def place_standbys(problem: Problem, placement: Placement, by_partition: Sequence[int], quota: Quota) -> None:
    """Gives the stateful tasks their standbys, as far as there are processes.

    Args:
        problem: The input; it asks for at least one standby.
        placement: Every task has its owner.
        by_partition: All tasks by partition, then sub-topology.
        quota: Of all tasks.
    """
    process_of, stateful = placement.process_of, problem.tasks.stateful
    #: Processes that hold each task.
    holders = [[process_of[owner]] for owner in placement.owners]
    missing = [problem.num_standbys if is_stateful else 0 for is_stateful in stateful]
    _keep_standbys(problem, placement, by_partition, quota, holders, missing)
    _place_rest(problem, placement, quota, holders, missing)


def _keep_standbys(
    problem: Problem,
    placement: Placement,
    by_partition: Sequence[int],
    quota: Quota,
    holders: list[list[int]],
    missing: list[int],
) -> None:
    """Gives tasks to those that had them; ``missing`` tells how many standbys each task then still lacks."""
    counts, process_of, processes = placement.counts, placement.process_of, placement.processes
    owners, standbys, choose = problem.previous_actives, problem.previous_standbys, problem.rules.choose
    for task in reversed(by_partition):
        owner = owners[task]
        if not missing[task] or (owner < 0 and task not in standbys):
            continue
        candidates = standbys.get(task, _NOBODY)
        held_by = holders[task]
        while missing[task]:
            member = owner
            if member < 0 or process_of[member] in held_by or counts[member] >= quota.each:
                if len(candidates) == 1:
                    member = -1 if process_of[candidates[0]] in held_by else candidates[0]
                else:
                    member = choose(placement, candidates, held_by) if candidates else -1
                if member < 0 or counts[member] >= quota.each:
                    break
            if processes.give_to(member) == quota.each:
                quota.reached()
            _hold(placement, held_by, member, task)
            missing[task] -= 1


def _place_rest(
    problem: Problem, placement: Placement, quota: Quota, holders: list[list[int]], missing: Sequence[int]
) -> None:
    if not any(missing):
        return
    queue = ProcessQueue(problem.rules.process_order(problem.members), placement.processes.loads)
    for task in range(len(missing) - 1, -1, -1):
        for _ in range(missing[task]):
            if not _place_on_least_loaded(placement, quota, queue, holders[task], task):
                break


def _place_on_least_loaded(
    placement: Placement, quota: Quota, queue: ProcessQueue, held_by: list[int], task: int
) -> bool:
    """Gives ``task`` to the least loaded process that does not hold it; answers whether there was one."""
    processes = placement.processes
    loads = processes.loads
    skipped: list[int] = []
    found = False
    while len(queue) and not found:
        process = queue.poll()
        if process in held_by:
            skipped.append(process)
            continue
        found = True
        member = processes.give_least(process)
        if placement.counts[member] == quota.each:
            quota.reached()
        _hold(placement, held_by, member, task)
        queue.add(process, loads[process])
    # Kafka looks further while it still holds the processes that it passed over: they return last out, first in.
    for process in reversed(skipped):
        queue.add(process, loads[process])
    return found


def _hold(placement: Placement, held_by: list[int], member: int, task: int) -> None:
    held_by.append(placement.process_of[member])
    if member in placement.standbys:
        placement.standbys[member].append(task)
    else:
        placement.standbys[member] = [task]
