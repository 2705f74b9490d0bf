"""Standby tasks: kept in place while the quota allows, the rest on the least loaded processes.

Kafka: the brokers' ``StickyTaskAssignor``.

The processes that hold a task, the owner's first, are computed on first use.
"""

from __future__ import annotations

from collections.abc import Sequence

from builtin_assignors._group_sticky_steps.placement import GroupStickyPlacement
from builtin_assignors._group_sticky_steps.problem import GroupStickyProblem
from builtin_assignors._group_sticky_steps.queues import ProcessQueue
from builtin_assignors._group_sticky_steps.quota import Quota
from builtin_assignors._group_sticky_steps.tracing import GroupSteps
from builtin_assignors._steps_taken import SILENT

__all__ = ["place_standbys"]


def place_standbys(
    problem: GroupStickyProblem, placement: GroupStickyPlacement, quota: Quota, steps: GroupSteps = SILENT
) -> None:
    """Give the stateful tasks their standbys, as long as processes are left.

    Args:
        placement: Every task has its owner.
    """
    holders: dict[int, tuple[int, ...]] = {}
    missing = [problem.num_standbys if is_stateful else 0 for is_stateful in problem.tasks.stateful]
    _keep_standbys(problem, placement, quota, holders, missing)
    steps.standbys("gs-standby-keep", placement.standbys)
    if any(missing):
        _place_rest(problem, placement, quota, holders, missing)
        steps.standbys("gs-standby-fill", placement.standbys)


def _keep_standbys(
    problem: GroupStickyProblem,
    placement: GroupStickyPlacement,
    quota: Quota,
    holders: dict[int, tuple[int, ...]],
    missing: list[int],
) -> None:
    counts, process_of, processes = placement.counts, placement.layout.process_of, placement.processes
    previous, first, several = problem.previous_actives, problem.candidates.first, problem.candidates.several
    owners, standbys, choose = placement.owners, placement.standbys, problem.rules.chooser(placement)
    tasks, each = len(owners), quota.each
    for task in reversed(problem.tasks.by_partition):
        lacking = missing[task]
        previous_owner, candidate = previous[task], first[task]
        if not lacking or (previous_owner < 0 and candidate < 0):
            continue
        held_by: tuple[int, ...] = (process_of[owners[task]],)
        while lacking:
            member = previous_owner
            if member < 0 or process_of[member] in held_by or counts[member] >= each:
                if task in several:
                    member = choose(several[task], held_by)
                else:
                    member = -1 if candidate < 0 or process_of[candidate] in held_by else candidate
                if member < 0 or counts[member] >= each:
                    break
            process = process_of[member]
            if processes.give_to(process, member) == each:
                each = quota.reached()
            held_by += (process,)
            standbys.append(member * tasks + task)
            lacking -= 1
        missing[task] = lacking
        if lacking:
            holders[task] = held_by


def _place_rest(
    problem: GroupStickyProblem,
    placement: GroupStickyPlacement,
    quota: Quota,
    holders: dict[int, tuple[int, ...]],
    missing: Sequence[int],
) -> None:
    counts, process_of, processes = placement.counts, placement.layout.process_of, placement.processes
    owners, standbys, loads = placement.owners, placement.standbys, processes.loads
    tasks, each = len(owners), quota.each
    queue = ProcessQueue(problem.process_order(), loads)
    heap = queue.processes
    for task in range(tasks - 1, -1, -1):
        lacking = missing[task]
        if not lacking:
            continue
        held_by = holders[task] if task in holders else (process_of[owners[task]],)
        while lacking:
            passed_over = _pass_over(queue, held_by) if heap[0] in held_by else None
            if passed_over and not len(queue):
                _return(queue, passed_over, loads)
                break
            process = heap[0]
            member = processes.give_least(process)
            if counts[member] == each:
                each = quota.reached()
            held_by += (process,)
            standbys.append(member * tasks + task)
            lacking -= 1
            queue.raise_head(loads[process])
            if passed_over:
                _return(queue, passed_over, loads)


def _pass_over(queue: ProcessQueue, held_by: Sequence[int]) -> list[int]:
    passed_over = []
    while len(queue) and queue.processes[0] in held_by:
        passed_over.append(queue.poll())
    return passed_over


def _return(queue: ProcessQueue, passed_over: Sequence[int], loads: Sequence[float]) -> None:
    # Kafka searches on while it still holds the skipped processes: last out, first in.
    for process in reversed(passed_over):
        queue.add(process, loads[process])
