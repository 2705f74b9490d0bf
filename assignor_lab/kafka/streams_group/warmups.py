"""State of warm-ups: moves of tasks that wait until their state is restored, in the refiner of Kafka's branch.

In no release: the rules of ``AssignmentRefinerImpl`` on Kafka's development branch after 4.4
(``streams-life-cycle.md``, section 3). It converts an assignor's target into the tasks that members receive in the
meantime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from assignor_lab.kafka.streams_group.reconciliation import Standing
from assignor_lab.kafka.streams_group.tasks import TasksByRole

__all__ = ["NOT_STARTED", "Copy", "PendingMove", "Situation", "decided", "situation"]

#: Reported offset of a task whose restoration has not begun.
NOT_STARTED = 2**63 - 1


@attrs.frozen
class Copy:
    """A copy of a task on a member.

    Args:
        is_warmup: A warm-up, not a standby.
        has_begun: A part of it is restored.
    """

    member: str
    process: str
    is_warmup: bool
    is_caught_up: bool
    has_begun: bool


@attrs.frozen
class Holder:
    """A member with a task as active.

    Args:
        is_restoring: It does not process it yet.
    """

    member: str
    is_restoring: bool
    is_caught_up: bool

    @property
    def is_hot(self) -> bool:
        """True if the task can run there now."""
        return not self.is_restoring or self.is_caught_up


@attrs.define
class Situation:
    """Present tasks with state of all members, without tasks that they must revoke."""

    process_of: dict[str, str] = attrs.field(factory=dict)
    active: dict[int, Holder] = attrs.field(factory=dict)
    copies: dict[int, list[Copy]] = attrs.field(factory=dict)
    on_disk: dict[str, set[int]] = attrs.field(factory=dict)
    stateful_tasks: dict[str, int] = attrs.field(factory=dict)
    members: dict[str, int] = attrs.field(factory=dict)

    def copy_on(self, process: str, task: int) -> Copy | None:
        return next((copy for copy in self.copies.get(task, ()) if copy.process == process), None)

    def load(self, process: str, more: int = 0) -> float:
        """Tasks with state per member of a process."""
        return (self.stateful_tasks.get(process, 0) + more) / self.members[process]


@attrs.frozen
class PendingMove:
    """A task that is not at its target, and stays elsewhere for now."""

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
    found = Situation()
    held: dict[str, set[int]] = {}
    for member, standing in standings.items():
        process, tasks, reported = standing.process, standing.assigned, offsets.get(member, {})
        last = ends.get(member, {})
        found.process_of[member] = process
        found.members[process] = found.members.get(process, 0) + 1

        def caught_up(task: int, reported: Mapping[int, int] = reported, last: Mapping[int, int] = last) -> bool:
            offset = reported.get(task, NOT_STARTED)
            return offset != NOT_STARTED and task in last and last[task] - offset <= acceptable_lag

        for task in tasks.active & stateful:
            found.active[task] = Holder(member, task in reported, caught_up(task))
        for task, is_warmup in [(t, False) for t in tasks.standby] + [(t, True) for t in tasks.warmup]:
            if task in stateful:
                has_begun = reported.get(task, NOT_STARTED) != NOT_STARTED
                copy = Copy(member, process, is_warmup, caught_up(task), has_begun)
                found.copies.setdefault(task, []).append(copy)
        own = (tasks.active | tasks.standby | tasks.warmup) & stateful
        held.setdefault(process, set()).update(own)
        count = sum(len(role & stateful) for role in (tasks.active, tasks.standby, tasks.warmup))
        found.stateful_tasks[process] = found.stateful_tasks.get(process, 0) + count
        found.on_disk.setdefault(process, set()).update(stateful.intersection(reported))
    for process, tasks_there in found.on_disk.items():
        tasks_there -= held.get(process, set())
    return found


def decided(
    now: Situation, targets: Mapping[str, TasksByRole], stateful: frozenset[int], order: Callable[[int], Any]
) -> tuple[list[PendingMove], list[tuple[int, str]]]:
    """Decide for each task with state that is not at its target: wait for a warm-up, or move now.

    Args:
        stateful: Tasks with state.

    Returns:
        Waiting moves, and tasks that move now with their targets; both in the order of tasks.
    """
    owner_of = {task: member for member, tasks in targets.items() for task in tasks.active & stateful}
    standbys: dict[int, set[str]] = {}
    for member, tasks in targets.items():
        for task in tasks.standby & stateful:
            standbys.setdefault(task, set()).add(member)
    waiting: list[PendingMove] = []
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
            waiting.append(PendingMove(task, owner, target, process, now.copy_on(process, task)))
    return waiting, granted


def _stays_with(now: Situation, task: int, holder: Holder | None, process: str, standbys: set[str]) -> str | None:
    """The member that runs a task until its target is ready; ``None``: it moves now."""
    if holder is not None and now.process_of[holder.member] == process:
        return None  # a process cannot have a task twice: a warm-up is impossible
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
