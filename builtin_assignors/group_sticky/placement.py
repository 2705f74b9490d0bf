"""Who holds what while the tasks of a group are placed, and how much of the quotas is left (reference 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from builtin_assignors.group_sticky.process_queue import add, poll

__all__ = ["Placement", "Quota"]


class Quota:
    """How many tasks each member should get at most; it shrinks as members fill up.

    Args:
        tasks: Number of tasks to share out.
        members: Number of members that share them.
    """

    __slots__ = ("_members", "_tasks", "each")

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks = tasks
        self._members = members
        #: The quota of a member, 0 once nobody is left.
        self.each = -(-tasks // members) if members else 0

    def note(self, count: int) -> None:
        """A member now has ``count`` tasks: if that is the quota, the others share what is left."""
        if count == self.each:
            self._members -= 1
            self._tasks -= count
            self.each = -(-self._tasks // self._members) if self._members else 0


@attrs.define(eq=False)
class Placement:
    """The state of one decision; members, processes and tasks are dense numbers.

    Args:
        process_of: Process of each member.
        members_of: Members of each process.
        heap_order: Puts the members of a process into the order in which Kafka fills a queue with them.
        owners: Member that has each task as active, -1 = nobody yet.
        counts: Number of tasks, actives and standbys, of each member.
        taken: Number of tasks of each process.
        loads: ``taken`` per member, of each process.
        held: Tasks of each process; filled before standbys are placed.
        standbys: Standby tasks of each member.
    """

    process_of: Sequence[int]
    members_of: Sequence[Sequence[int]]
    heap_order: Callable[[Sequence[int]], list[int]]
    owners: list[int]
    counts: list[int]
    taken: list[int]
    loads: list[float]
    held: list[set[int]] = attrs.field(factory=list)
    standbys: dict[int, list[int]] = attrs.field(factory=dict)
    #: Process to its queue of members. A queue lives until a task is put on the process past it.
    _queues: dict[int, list[int]] = attrs.field(factory=dict)

    def give_to(self, member: int) -> int:
        """Counts one task more for ``member``; answers how many it has now."""
        process = self.process_of[member]
        self._queues.pop(process, None)
        return self._count(process, member)

    def give_least(self, process: int) -> int:
        """Counts one task more for the member of ``process`` with the fewest; answers which one it is."""
        members = self.members_of[process]
        if len(members) == 1:
            member = members[0]
            self._count(process, member)
            return member
        counts = self.counts
        queue = self._queues.get(process)
        if queue is None:
            queue = self._queues[process] = []
            for each in self.heap_order(members):
                add(queue, each, counts)
        if len(queue) == 2:
            # What a poll and an add come to where two members share a process, the usual number.
            member = queue[0]
            self._count(process, member)
            if counts[member] < counts[queue[1]]:
                return member
            queue.reverse()
            return member
        member = poll(queue, counts)
        self._count(process, member)
        add(queue, member, counts)
        return member

    def _count(self, process: int, member: int) -> int:
        self.taken[process] = taken = self.taken[process] + 1
        self.loads[process] = taken / len(self.members_of[process])
        self.counts[member] = count = self.counts[member] + 1
        return count

    def process_queue(self, order: Sequence[int]) -> list[int]:
        """A queue of all processes by load, filled in ``order``."""
        if not any(self.taken):
            return list(order)  # nobody passes anybody
        queue: list[int] = []
        for process in order:
            add(queue, process, self.loads)
        return queue

    def hold_actives(self) -> None:
        """Notes the active tasks as held by their processes."""
        self.held = [set() for _ in self.members_of]
        for task, member in enumerate(self.owners):
            self.held[self.process_of[member]].add(task)

    def least_loaded_of(self, members: Sequence[int], task: int | None) -> int:
        """The previous standby owner that Kafka would ask, or -1.

        Kafka starts from the first one without asking whether its process has the task, and asks about *that* process
        at the end, whoever was chosen meanwhile (KAFKA-20899); an exact answer has to do the same.

        Args:
            members: Previous owners, in the order in which they were met.
            task: Task that the process must not hold, or ``None``: not asked.
        """
        if not members:
            return -1
        best = members[0]
        first = self.process_of[best]
        load, count = self.loads[first], self.counts[best]
        for member in members[1:]:
            process = self.process_of[member]
            if (
                self.loads[process] < load
                and (task is None or task not in self.held[process])
                and self.counts[member] < count
            ):
                best, load, count = member, self.loads[process], self.counts[member]
        return best if task is None or task not in self.held[first] else -1
