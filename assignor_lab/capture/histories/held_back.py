"""Intended processes of active tasks that a leader holds back while their old owners still have them.

The leader requests an immediate rebalance of the new consumer, which no message names. It did not own the task, and
keeps its standby. The next generation shows it if these rules allow its consumers, and neither the members nor the
processes of the other tasks changed; otherwise the leader decided anew.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import product

from assignment_api.streams import ProcessID, TaskId
from assignment_api.streams.client_state import LATEST_OFFSET
from assignor_lab.capture.recorded.broker_answers import DescribedGroup, MemberAnswer
from assignor_lab.capture.recorded.states import members_by_process

__all__ = ["meant_for"]

#: Value of a member that must rebalance at once.
_AT_ONCE = 0
_MOST_TRIED = 4096


def meant_for(
    answer: DescribedGroup,
    tasks: Collection[TaskId],
    sources: Mapping[tuple[str | None, int], tuple[str, ...]],
    later: DescribedGroup | None,
) -> dict[TaskId, ProcessID | None]:
    """``None`` if unknown."""
    processes = members_by_process(answer)
    members = [(process, member) for process, own in processes.items() for member in own]
    waiting = {member.member_id: process for process, member in members if _is_to_rebalance(member)}
    following = {} if later is None or not _is_continued(answer, later, tasks, sources) else _running(later)
    choices = {
        task: {
            name: process
            for process, own in processes.items()
            for name in _choices_in(own, task, sources.get((task.topology_name, task.subtopology), ()))
            if name in waiting
        }
        for task in tasks
    }
    next_ones = {task: following[task][0] if task in following else None for task in tasks}
    if not waiting or not all(choices.values()):
        # No member awaits them, or another Kafka version wrote the messages.
        return next_ones
    names = {task: following[task][1] for task in tasks if task in following}
    is_same = all(names.get(task) in choices[task] for task in tasks)
    if is_same and _fits(names, waiting, processes):
        return next_ones
    possible = _possible(choices, waiting, processes)
    return {task: next(iter(those)) if len(those) == 1 else None for task, those in possible.items()}


def _is_continued(
    answer: DescribedGroup,
    later: DescribedGroup,
    tasks: Collection[TaskId],
    sources: Mapping[tuple[str | None, int], tuple[str, ...]],
) -> bool:
    """A process exchanges tasks of its consumers."""
    if _members(later) != _members(answer):
        return False
    before, after = _processes(answer), _processes(later)
    awaited = meant_for(later, {*before, *tasks} - after.keys(), sources, None)
    return before.items() <= {**after, **awaited}.items()


def _processes(answer: DescribedGroup) -> dict[TaskId, ProcessID]:
    return {task: process for task, (process, _) in _running(answer).items()}


def _is_to_rebalance(member: MemberAnswer) -> bool:
    return member.assignment is not None and member.assignment.info.next_rebalance_ms == _AT_ONCE


def _members(answer: DescribedGroup) -> frozenset[str]:
    return frozenset(member.member_id for member in answer.members)


def _running(answer: DescribedGroup) -> dict[TaskId, tuple[ProcessID, str]]:
    return {
        task: (process, member.member_id)
        for process, members in members_by_process(answer).items()
        for member in members
        if member.assignment is not None
        for task in member.assignment.info.active_tasks
    }


def _possible(
    choices: Mapping[TaskId, Mapping[str, ProcessID]],
    waiting: Collection[str],
    processes: Mapping[ProcessID, tuple[MemberAnswer, ...]],
) -> dict[TaskId, set[ProcessID]]:
    if math.prod(len(names) for names in choices.values()) > _MOST_TRIED:
        return {task: set(names.values()) for task, names in choices.items()}
    possible: dict[TaskId, set[ProcessID]] = {task: set() for task in choices}
    for way in product(*choices.values()):
        chosen = dict(zip(choices, way, strict=True))
        if _fits(chosen, waiting, processes):
            for task, name in chosen.items():
                possible[task].add(choices[task][name])
    return possible


def _fits(
    chosen: Mapping[TaskId, str],
    waiting: Collection[str],
    processes: Mapping[ProcessID, tuple[MemberAnswer, ...]],
) -> bool:
    """Each member with an immediate rebalance awaits a task, and the members of a process get equally many."""
    return set(chosen.values()) == set(waiting) and all(_is_even(members, chosen) for members in processes.values())


def _is_even(members: tuple[MemberAnswer, ...], chosen: Mapping[TaskId, str]) -> bool:
    """Kafka: ``assignTasksToThreads``."""
    loads = []
    for member in members:
        info = None if member.assignment is None else member.assignment.info
        held = {task for task, name in chosen.items() if name == member.member_id}
        if info is not None:
            loads.append(len({*info.active_tasks, *info.standby_tasks, *held}))
    return max(loads, default=0) - min(loads, default=0) <= 1


def _choices_in(members: tuple[MemberAnswer, ...], task: TaskId, topics: tuple[str, ...]) -> list[str]:
    """Members of a process that can be the intended owner of a task.

    A standby of the process stays one at the new consumer until the task runs there, and nowhere else in the process.
    Kafka: ``StreamsPartitionAssignor#buildStandbyTaskMap``.
    """
    partitions = {(topic, task.partition) for topic in topics}
    owners = {
        member.member_id
        for member in members
        if member.subscription is not None and partitions.intersection(member.subscription.owned_partitions)
    }
    sums = [
        member.subscription.info.task_offset_sums[task]
        for member in members
        if member.subscription is not None and task in member.subscription.info.task_offset_sums
    ]
    keeps = {
        member.member_id
        for member in members
        if member.assignment is not None and task in member.assignment.info.standby_tasks
    }
    if sums and not owners and LATEST_OFFSET not in sums:
        return sorted(keeps) if len(keeps) == 1 else []
    return [] if keeps else [member.member_id for member in members if member.member_id not in owners]
