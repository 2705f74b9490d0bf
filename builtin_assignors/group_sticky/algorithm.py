"""The whole decision of the coordinator's sticky assignor on dense indices (reference 3).

Tasks are numbered by sub-topology (as texts sort), then partition; members in the order in which Kafka visits them;
processes in the order in which they are first met. Cost for T tasks, S standby copies, M members and P processes:
T log T + (T + S) log P + M.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from builtin_assignors.group_sticky.placement import Placement, Quota
from builtin_assignors.group_sticky.process_queue import add, poll

__all__ = ["Answer", "Problem", "TaskWithoutProcess", "decide"]

_NOBODY: Sequence[int] = ()


@attrs.frozen
class Problem:
    """Input of one decision.

    Args:
        partitions: Partition of each task.
        stateful: Whether each task can have standbys.
        num_standbys: Standbys asked for.
        process_of: Process of each member.
        process_order: The processes in the order in which Kafka fills a queue with them.
        heap_order: Puts the members of a process into the order in which Kafka fills a queue with them.
        previous_actives: Task to the member that had it; of several the last one visited.
        previous_standbys: Task to the members that had it as standby, in the order of visits.
    """

    partitions: Sequence[int]
    stateful: Sequence[bool]
    num_standbys: int
    process_of: Sequence[int]
    process_order: Sequence[int]
    heap_order: Callable[[Sequence[int]], list[int]]
    previous_actives: Mapping[int, int]
    previous_standbys: Mapping[int, Sequence[int]]


@attrs.frozen
class Answer:
    """Who gets what.

    Attributes:
        owners: Member that gets each task as active.
        standbys: Member to its standby tasks, in the order in which they were given; members without any left out.
    """

    owners: list[int]
    standbys: dict[int, list[int]]


class TaskWithoutProcess(Exception):  # noqa: N818 - a signal to the module around this one
    """There is no process at all; ``task`` is the first task that was to be placed."""

    def __init__(self, task: int) -> None:
        super().__init__(task)
        self.task = task


def decide(problem: Problem) -> Answer:
    """Places all tasks.

    Raises:
        TaskWithoutProcess: if there are tasks and no members.
    """
    tasks = len(problem.partitions)
    members = len(problem.process_of)
    copies = sum(problem.stateful) * problem.num_standbys
    active_quota, total_quota = Quota(tasks, members), Quota(tasks + copies, members)
    placement = _empty_placement(problem)
    _place_actives(problem, placement, active_quota, total_quota)
    if problem.num_standbys > 0:
        placement.hold_actives()
        _place_standbys(problem, placement, total_quota)
    return Answer(placement.owners, placement.standbys)


def _empty_placement(problem: Problem) -> Placement:
    members_of: list[list[int]] = [[] for _ in problem.process_order]
    for member, process in enumerate(problem.process_of):
        members_of[process].append(member)
    return Placement(
        process_of=problem.process_of,
        members_of=members_of,
        heap_order=problem.heap_order,
        owners=[-1] * len(problem.partitions),
        counts=[0] * len(problem.process_of),
        taken=[0] * len(members_of),
        loads=[0.0] * len(members_of),
    )


# --- actives --------------------------------------------------------------------------------------


def _place_actives(problem: Problem, placement: Placement, active_quota: Quota, total_quota: Quota) -> None:
    owners, counts = placement.owners, placement.counts

    def keep(task: int, member: int) -> None:
        if member >= 0 and counts[member] < active_quota.each:
            owners[task] = member
            count = placement.give_to(member)
            active_quota.note(count)
            total_quota.note(count)

    # A stable sort of tasks that stand by sub-topology leaves them by partition, then sub-topology. Tasks that
    # nobody had would change nothing here.
    partition_of = problem.partitions.__getitem__
    for task in sorted(problem.previous_actives, key=lambda task: (partition_of(task), task)):
        keep(task, problem.previous_actives[task])
    for task in sorted(problem.previous_standbys, key=lambda task: (partition_of(task), task)):
        if owners[task] < 0:
            keep(task, placement.least_loaded_of(problem.previous_standbys[task], None))

    rest = [task for task, owner in enumerate(owners) if owner < 0]
    if not rest:
        return
    if not problem.process_order:
        raise TaskWithoutProcess(rest[0])
    loads = placement.loads
    queue = placement.process_queue(problem.process_order)
    for task in rest:
        process = poll(queue, loads)
        member = placement.give_least(process)
        owners[task] = member
        # The standbys' quota is to be shared out later, and knows of every task that was given before.
        total_quota.note(counts[member])
        add(queue, process, loads)


# --- standbys -------------------------------------------------------------------------------------


def _place_standbys(problem: Problem, placement: Placement, quota: Quota) -> None:
    partition_of = problem.partitions.__getitem__
    tasks = [task for task, stateful in enumerate(problem.stateful) if stateful]
    tasks.sort(key=partition_of)
    later: list[tuple[int, int]] = []
    for task in reversed(tasks):
        missing = _keep_standbys(problem, placement, quota, task)
        if missing:
            later.append((task, missing))
    later.sort(reverse=True)
    queue = placement.process_queue(problem.process_order) if later else []
    for task, missing in later:
        for _ in range(missing):
            if not _place_on_least_loaded(placement, quota, queue, task):
                break


def _keep_standbys(problem: Problem, placement: Placement, quota: Quota, task: int) -> int:
    """Gives ``task`` to those that had it, as far as the quota allows; answers how many standbys it still lacks."""
    owner = problem.previous_actives.get(task, -1)
    previous = problem.previous_standbys.get(task, _NOBODY)
    counts, held, process_of = placement.counts, placement.held, placement.process_of
    for given in range(problem.num_standbys):
        member = owner
        if member < 0 or task in held[process_of[member]] or counts[member] >= quota.each:
            member = placement.least_loaded_of(previous, task)
            if member < 0 or counts[member] >= quota.each:
                return problem.num_standbys - given
        quota.note(placement.give_to(member))
        _hold(placement, member, task)
    return 0


def _place_on_least_loaded(placement: Placement, quota: Quota, queue: list[int], task: int) -> bool:
    """Gives ``task`` to the least loaded process that does not hold it; answers whether there was one."""
    loads, held = placement.loads, placement.held
    skipped: list[int] = []
    found = False
    while queue and not found:
        process = poll(queue, loads)
        if task in held[process]:
            skipped.append(process)
            continue
        found = True
        member = placement.give_least(process)
        quota.note(placement.counts[member])
        _hold(placement, member, task)
        add(queue, process, loads)
    # Kafka looks further while it still holds the processes that it passed over: they return last out, first in.
    for process in reversed(skipped):
        add(queue, process, loads)
    return found


def _hold(placement: Placement, member: int, task: int) -> None:
    placement.held[placement.process_of[member]].add(task)
    placement.standbys.setdefault(member, []).append(task)
