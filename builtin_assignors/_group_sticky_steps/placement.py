"""Unfinished placement of a group; members, processes and tasks are dense numbers."""

from __future__ import annotations

from builtin_assignors._group_sticky_steps.layout import GroupLayout
from builtin_assignors._group_sticky_steps.queues import add, poll

__all__ = ["GroupStickyPlacement", "ProcessCounts"]


class GroupStickyPlacement:
    """The tasks placed so far."""

    __slots__ = ("_processes", "counts", "layout", "owners", "standbys")

    def __init__(self, layout: GroupLayout, tasks: int) -> None:
        self.layout = layout
        self.owners = [-1] * tasks
        #: Number of tasks, actives and standbys, of each member.
        self.counts = [0] * len(layout.ids)
        #: Each standby as its member times the number of tasks, plus its task.
        self.standbys: list[int] = []
        self._processes: ProcessCounts | None = None

    @property
    def processes(self) -> ProcessCounts:
        """The loads of the processes. Created on first use; later tasks must be placed through it."""
        if self._processes is None:
            self._processes = ProcessCounts(self.layout, self.counts)
        return self._processes


class ProcessCounts:
    """Number of tasks of each process of a group.

    Kafka keeps a queue of members for each process, until a task is placed on the process without that queue. Most
    processes have one or two members, where the queue alternates between the next and the other one.
    """

    __slots__ = ("_counts", "_layout", "_members_of", "_next", "_other", "_queues", "loads", "taken")

    def __init__(self, layout: GroupLayout, counts: list[int]) -> None:
        self._layout = layout
        self._members_of = members_of = layout.members_of
        self._counts = counts
        self.taken = [0] * len(members_of)
        self.loads = [0.0] * len(members_of)
        if any(counts):
            for member, process in enumerate(layout.process_of):
                self.taken[process] += counts[member]
            self.loads = [taken / len(members) for taken, members in zip(self.taken, members_of, strict=True)]
        self._next = [-1] * len(members_of)
        self._other = [-1] * len(members_of)
        self._queues: dict[int, list[int]] = {}

    @property
    def are_equals(self) -> bool:
        """True if all processes have equal numbers of tasks and of members, so that they take turns."""
        return len(set(self.taken)) <= 1 and len(set(map(len, self._members_of))) <= 1

    def give_to(self, process: int, member: int) -> int:
        """Add one task to ``member`` of ``process``; returns the member's new number of tasks."""
        self._next[process] = -1
        self.taken[process] = taken = self.taken[process] + 1
        self.loads[process] = taken / len(self._members_of[process])
        self._counts[member] = count = self._counts[member] + 1
        return count

    def give_least(self, process: int) -> int:
        """Add one task to the member of ``process`` with the fewest tasks; returns that member."""
        counts = self._counts
        self.taken[process] = taken = self.taken[process] + 1
        self.loads[process] = taken / len(self._members_of[process])
        member = self._next[process]
        if member < 0:
            member = self._new_queue(process)
        other = self._other[process]
        if other >= 0:
            counts[member] = count = counts[member] + 1
            if count >= counts[other]:
                self._next[process], self._other[process] = other, member
            return member
        queue = self._queues[process]
        poll(queue, counts)
        counts[member] += 1
        add(queue, member, counts)
        self._next[process] = queue[0]
        return member

    def _new_queue(self, process: int) -> int:
        members, counts = self._layout.queue_order(process), self._counts
        if len(members) <= 2:
            head, other = members[0], members[-1]
            if counts[other] < counts[head]:
                head, other = other, head
            self._next[process], self._other[process] = head, other
            return head
        queue = self._queues[process] = []
        for member in members:
            add(queue, member, counts)
        self._next[process] = queue[0]
        return queue[0]
