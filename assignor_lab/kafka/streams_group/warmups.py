"""Where warm-ups stand: moves of tasks that are held back until their state is there (the coming refiner).

In no release: the rules of ``AssignmentRefinerImpl`` as it stands on Kafka's development branch after 4.4
(``streams-life-cycle.md``, section 3). It turns an assignor's target into what members are sent meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from assignor_lab.kafka.streams_group.reconciliation import Standing
from assignor_lab.kafka.streams_group.tasks import Tasks

__all__ = ["NOT_STARTED", "Copy", "Move", "Situation", "decided", "situation"]

#: Offset that members report for a task that they have not begun to restore.
NOT_STARTED = 2**63 - 1


@attrs.frozen
class Copy:
    """A copy of a task on a member.

    Args:
        member: The member.
        process: Its process.
        is_warmup: A warm-up, not a standby.
        is_caught_up: Its lag is acceptable.
        has_begun: Anything of it has been restored.
    """

    member: str
    process: str
    is_warmup: bool
    is_caught_up: bool
    has_begun: bool


@attrs.frozen
class Holder:
    """A member that has a task as active.

    Args:
        member: The member.
        is_restoring: It does not process it yet.
        is_caught_up: It restores it, and its lag is acceptable.
    """

    member: str
    is_restoring: bool
    is_caught_up: bool

    @property
    def is_hot(self) -> bool:
        """Whether the task can run there now."""
        return not self.is_restoring or self.is_caught_up


@attrs.define
class Situation:
    """Who has which tasks with state now, what members have been told to give up left out.

    Args:
        process_of: Member to its process.
        active: Task to the member that has it as active.
        copies: Task to its standbys and warm-ups.
        on_disk: Process to tasks that it reported and has no role for.
        stateful_tasks: Process to the number of tasks with state that it has, in any role.
        members: Process to the number of its members.
    """

    process_of: dict[str, str] = attrs.field(factory=dict)
    active: dict[int, Holder] = attrs.field(factory=dict)
    copies: dict[int, list[Copy]] = attrs.field(factory=dict)
    on_disk: dict[str, set[int]] = attrs.field(factory=dict)
    stateful_tasks: dict[str, int] = attrs.field(factory=dict)
    members: dict[str, int] = attrs.field(factory=dict)

    def copy_on(self, process: str, task: int) -> Copy | None:
        """The copy of a task that a process has."""
        return next((copy for copy in self.copies.get(task, ()) if copy.process == process), None)

    def load(self, process: str, more: int = 0) -> float:
        """Tasks with state of a process for each of its members."""
        return (self.stateful_tasks.get(process, 0) + more) / self.members[process]


@attrs.frozen
class Move:
    """A task that is not where its target is, and stays elsewhere meanwhile.

    Args:
        task: The task.
        owner: Member on which it runs meanwhile.
        target: Member to which it is to come.
        process: The target's process.
        copy: What that process has of it already.
    """

    task: int
    owner: str
    target: str
    process: str
    copy: Copy | None


def situation(
    standings: Mapping[str, Standing],
    offsets: Mapping[str, Mapping[int, int]],
    ends: Mapping[str, Mapping[int, int]],
    stateful: frozenset[int],
    acceptable_lag: int,
) -> Situation:
    """Who has what.

    Args:
        standings: Member to where it stands.
        offsets: Member to the offsets that it reported last; for an active task only while it restores it.
        ends: Member to the changelogs' ends that it reported with them.
        stateful: Tasks with state.
        acceptable_lag: ``acceptable.recovery.lag``, in records.
    """
    found = Situation()
    held: dict[str, set[int]] = {}
    for member, standing in standings.items():
        process, tasks, told = standing.process, standing.assigned, offsets.get(member, {})
        last = ends.get(member, {})
        found.process_of[member] = process
        found.members[process] = found.members.get(process, 0) + 1

        def caught_up(task: int, told: Mapping[int, int] = told, last: Mapping[int, int] = last) -> bool:
            offset = told.get(task, NOT_STARTED)
            return offset != NOT_STARTED and task in last and last[task] - offset <= acceptable_lag

        for task in tasks.active & stateful:
            found.active[task] = Holder(member, task in told, caught_up(task))
        for task, is_warmup in [(t, False) for t in tasks.standby] + [(t, True) for t in tasks.warmup]:
            if task in stateful:
                has_begun = told.get(task, NOT_STARTED) != NOT_STARTED
                copy = Copy(member, process, is_warmup, caught_up(task), has_begun)
                found.copies.setdefault(task, []).append(copy)
        own = (tasks.active | tasks.standby | tasks.warmup) & stateful
        held.setdefault(process, set()).update(own)
        count = sum(len(role & stateful) for role in (tasks.active, tasks.standby, tasks.warmup))
        found.stateful_tasks[process] = found.stateful_tasks.get(process, 0) + count
        found.on_disk.setdefault(process, set()).update(stateful.intersection(told))
    for process, tasks_there in found.on_disk.items():
        tasks_there -= held.get(process, set())
    return found


def decided(
    now: Situation, targets: Mapping[str, Tasks], stateful: frozenset[int], order: Callable[[int], Any]
) -> tuple[list[Move], list[tuple[int, str]]]:
    """For each task with state that is not where its target is: whether it waits for a warm-up, or moves now.

    Args:
        now: Who has what.
        targets: Member to its target.
        stateful: Tasks with state.
        order: Sorts tasks as Kafka does.

    Returns:
        What waits, and tasks that move now with their targets; both in the order of tasks.
    """
    owner_of = {task: member for member, tasks in targets.items() for task in tasks.active & stateful}
    standbys: dict[int, set[str]] = {}
    for member, tasks in targets.items():
        for task in tasks.standby & stateful:
            standbys.setdefault(task, set()).add(member)
    waiting: list[Move] = []
    granted: list[tuple[int, str]] = []
    for task in sorted(owner_of, key=order):
        target = owner_of[task]
        holder = now.active.get(task)
        if (holder is not None and holder.member == target) or target not in now.process_of:
            continue
        process = now.process_of[target]
        owner = _stays_with(now, task, holder, process, standbys.get(task, set()))
        if owner is None:
            granted.append((task, target))
        else:
            waiting.append(Move(task, owner, target, process, now.copy_on(process, task)))
    return waiting, granted


def _stays_with(now: Situation, task: int, holder: Holder | None, process: str, standbys: set[str]) -> str | None:
    """The member on which a task runs until its target is ready; ``None``: it moves now."""
    if holder is not None and now.process_of[holder.member] == process:
        return None  # a process cannot have a task twice: there is nothing to warm up
    copies = now.copies.get(task, [])
    if any(copy.process == process and copy.is_caught_up for copy in copies):
        return None
    if holder is not None and holder.is_hot:
        return holder.member
    if holder is None and task in now.on_disk.get(process, ()):
        return None
    ready = [copy for copy in copies if copy.is_caught_up]
    if not ready:
        return None
    return min(ready, key=lambda copy: (copy.member in standbys, now.load(copy.process), copy.member)).member
