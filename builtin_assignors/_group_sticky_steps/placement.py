"""Who holds what while the tasks of a group are placed; members, processes and tasks are dense numbers."""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.java import DEFAULT_CAPACITY, MAX_CHAIN, iteration_order_of_spreads
from assignment_api.streams.ids import utf16_key
from builtin_assignors._group_sticky_steps.members import VisitedMembers
from builtin_assignors._group_sticky_steps.queues import add, poll

__all__ = ["Placement", "Processes"]

_FIRST_SLOTS = DEFAULT_CAPACITY - 1


class Placement:
    """The tasks that were placed so far.

    Args:
        members: The members.
        tasks: Number of tasks.
    """

    __slots__ = ("_members", "_processes", "counts", "owners", "process_of", "standbys")

    def __init__(self, members: VisitedMembers, tasks: int) -> None:
        #: Process of each member.
        self.process_of = members.process_of
        #: Member that has each task as active, -1 = nobody yet.
        self.owners = [-1] * tasks
        #: Number of tasks, actives and standbys, of each member.
        self.counts = [0] * len(members.process_of)
        #: Standby tasks of each member that has any, in the order in which they were given.
        self.standbys: dict[int, list[int]] = {}
        self._members = members
        self._processes: Processes | None = None

    @property
    def processes(self) -> Processes:
        """How full the processes are. Made when it is first asked for; from then on tasks are given through it."""
        if self._processes is None:
            self._processes = Processes(self._members, self.counts)
        return self._processes


class Processes:
    """The processes of a group, and how many tasks they have.

    Args:
        members: The members.
        counts: Number of tasks of each member; is kept up to date.
    """

    __slots__ = ("_counts", "_members", "_members_of", "_process_of", "_queues", "_taken", "loads")

    def __init__(self, members: VisitedMembers, counts: list[int]) -> None:
        self._members = members
        self._counts = counts
        self._process_of = members.process_of
        self._members_of: list[list[int]] = [[] for _ in members.processes]
        self._taken = [0] * len(members.processes)
        for member, process in enumerate(members.process_of):
            self._members_of[process].append(member)
            self._taken[process] += counts[member]
        #: Tasks per member, of each process.
        self.loads = [taken / len(of) for taken, of in zip(self._taken, self._members_of, strict=True)]
        # A queue of members lives until a task is put on its process past it.
        self._queues: list[list[int] | None] = [None] * len(members.processes)

    @property
    def are_equals(self) -> bool:
        """Whether all processes have as many tasks and as many members, so that they take turns."""
        return len(set(self._taken)) <= 1 and len(set(map(len, self._members_of))) <= 1

    def give_to(self, member: int) -> int:
        """Counts one task more for ``member``; answers how many it has now."""
        process = self._process_of[member]
        self._queues[process] = None
        self._taken[process] = taken = self._taken[process] + 1
        self.loads[process] = taken / len(self._members_of[process])
        self._counts[member] = count = self._counts[member] + 1
        return count

    def give_least(self, process: int) -> int:
        """Counts one task more for the member of ``process`` with the fewest; answers which one it is."""
        members, counts = self._members_of[process], self._counts
        self._taken[process] = taken = self._taken[process] + 1
        self.loads[process] = taken / len(members)
        if len(members) == 1:
            member = members[0]
            counts[member] += 1
            return member
        queue = self._queues[process]
        if queue is None:
            self._queues[process] = queue = self._member_queue(members)
        if len(queue) == 2:
            # What a poll and an add come to where two members share a process, the usual number.
            member, other = queue
            counts[member] = count = counts[member] + 1
            if count >= counts[other]:
                queue[0], queue[1] = other, member
            return member
        member = poll(queue, counts)
        counts[member] += 1
        add(queue, member, counts)
        return member

    def _member_queue(self, members: Sequence[int]) -> list[int]:
        spreads = self._members.spreads
        if len(members) == 2:
            first, second = members
            if spreads[first] & _FIRST_SLOTS > spreads[second] & _FIRST_SLOTS:
                first, second = second, first
            return [second, first] if self._counts[second] < self._counts[first] else [first, second]
        queue: list[int] = []
        for member in self._map_order(members):
            add(queue, member, self._counts)
        return queue

    def _map_order(self, members: Sequence[int]) -> list[int]:
        """The members of a process in the order of Kafka's map of them."""
        spreads = self._members.spreads
        if len(members) <= MAX_CHAIN:
            return sorted(members, key=lambda member: spreads[member] & _FIRST_SLOTS)  # neither grows nor has trees
        ids = self._members.ids
        order = iteration_order_of_spreads(
            [spreads[member] for member in members], sort_key=lambda place: utf16_key(ids[members[place]])
        )
        return [members[place] for place in order]
