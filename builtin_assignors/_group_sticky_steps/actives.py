"""Active tasks: kept, promoted from standbys, and the rest on the least loaded processes.

Kafka: the brokers' ``StickyTaskAssignor``.
"""

from __future__ import annotations

from collections.abc import Sequence

from builtin_assignors._group_sticky_steps.placement import GroupStickyPlacement
from builtin_assignors._group_sticky_steps.problem import GroupStickyProblem, TaskWithoutProcess
from builtin_assignors._group_sticky_steps.queues import ProcessQueue, turns
from builtin_assignors._group_sticky_steps.quota import Quota
from builtin_assignors._group_sticky_steps.tracing import GroupSteps
from builtin_assignors._steps_taken import SILENT

__all__ = ["place_actives"]


def place_actives(
    problem: GroupStickyProblem,
    placement: GroupStickyPlacement,
    active_quota: Quota,
    total_quota: Quota,
    steps: GroupSteps = SILENT,
) -> None:
    """Give every task an owner.

    Args:
        active_quota: Quota of active tasks.
        total_quota: Quota of all tasks; updated as members fill up.

    Raises:
        TaskWithoutProcess: if there are tasks and no members.
    """
    _keep_owners(problem, placement, active_quota, total_quota)
    steps.kept(placement.owners, problem.previous_actives, active_quota.each)
    if -1 in placement.owners:
        _promote_standbys(problem, placement, active_quota, total_quota)
        steps.promoted(placement.owners)
    rest = [task for task, owner in enumerate(placement.owners) if owner < 0] if -1 in placement.owners else ()
    if rest:
        _place_rest(problem, placement, rest, total_quota)
        steps.filled(placement.owners)


def _keep_owners(
    problem: GroupStickyProblem, placement: GroupStickyPlacement, active_quota: Quota, total_quota: Quota
) -> None:
    owners, counts, previous = placement.owners, placement.counts, problem.previous_actives
    active_each, total_each = active_quota.each, total_quota.each
    for task in problem.tasks.by_partition:
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
    problem: GroupStickyProblem, placement: GroupStickyPlacement, active_quota: Quota, total_quota: Quota
) -> None:
    owners, counts, process_of = placement.owners, placement.counts, placement.layout.process_of
    first, several = problem.candidates.first, problem.candidates.several
    choose, processes = problem.rules.chooser(placement), placement.processes
    for task in problem.tasks.by_partition:
        member = first[task]
        if member < 0 or owners[task] >= 0:
            continue
        if task in several and counts[member]:
            # No member has fewer than 0 tasks.
            member = choose(several[task], ())
        if counts[member] >= active_quota.each:
            continue
        owners[task] = member
        count = processes.give_to(process_of[member], member)
        if count == active_quota.each:
            active_quota.reached()
        if count == total_quota.each:
            total_quota.reached()


def _place_rest(
    problem: GroupStickyProblem, placement: GroupStickyPlacement, rest: Sequence[int], total_quota: Quota
) -> None:
    order = problem.process_order()
    if not order:
        raise TaskWithoutProcess(rest[0])
    owners, counts, processes = placement.owners, placement.counts, placement.processes
    # The active quota does not apply here. The quota of all tasks must still count full members.
    total_each = total_quota.each
    if processes.are_equals:
        for task, process in zip(rest, turns(order), strict=False):
            owners[task] = member = processes.give_least(process)
            if counts[member] == total_each:
                total_each = total_quota.reached()
        return
    loads = processes.loads
    queue = ProcessQueue(order, loads)
    heap = queue.processes
    for task in rest:
        process = heap[0]
        owners[task] = member = processes.give_least(process)
        if counts[member] == total_each:
            total_each = total_quota.reached()
        queue.raise_head(loads[process])
