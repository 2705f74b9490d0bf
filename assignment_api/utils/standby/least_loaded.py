"""Standbys on the least loaded clients (Kafka: ``DefaultStandbyTaskAssignor``).

Clients are numbered by process id, so (load, index) is the order of Kafka's queue. A load changes only outside that
queue, so a sorted list can replace the heap.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from math import inf

__all__ = ["ClientsByLoad", "assign_least_loaded", "load_without_threads"]

#: Above every load, below the value for "not a number".
_INFINITE = 1e300

#: With more changed entries one sort is cheaper than insertions.
_FEW = 4


def assign_least_loaded(
    tasks: Iterable[int],
    replicas: int,
    capacities: Sequence[int],
    active: Sequence[AbstractSet[int]],
    standby: Sequence[set[int]],
) -> dict[int, int]:
    """Give each task ``replicas`` standbys, each on the least loaded client without the task.

    Args:
        tasks: Stateful tasks; their order matters.
        replicas: No effect below 1.
        capacities: Threads of each client.
        standby: Changed in place.

    Returns:
        Task to its missing standbys, if any.
    """
    clients = ClientsByLoad(capacities, active, standby)
    missing = {task: clients.add_standbys(task, replicas) for task in tasks}
    return {task: left for task, left in missing.items() if left > 0}


def load_without_threads(count: int) -> float:
    """Load of a client without threads, sorted as Java's quotient of doubles.

    Infinity with tasks; without, "not a number", which sorts last.
    """
    return _INFINITE if count else inf


class ClientsByLoad:
    """Clients by (tasks per thread, client), while standbys are added.

    Args:
        capacities: Threads of each client.
        standby: Changed in place.
    """

    __slots__ = ("_active", "_capacities", "_counts", "_queue", "_standby")

    def __init__(
        self, capacities: Sequence[int], active: Sequence[AbstractSet[int]], standby: Sequence[set[int]]
    ) -> None:
        self._capacities = capacities
        self._active = active
        self._standby = standby
        self._counts = [len(held) + len(standby[client]) for client, held in enumerate(active)]
        self._queue = sorted(map(self._entry, range(len(capacities))))

    def _entry(self, client: int) -> tuple[float, int]:
        capacity = self._capacities[client]
        count = self._counts[client]
        return (count / capacity if capacity else load_without_threads(count), client)

    def add_standbys(self, task: int, replicas: int) -> int:
        """Add standbys of ``task``; returns the number of missing ones.

        O(log clients + replicas); for many replicas one sort of the nearly sorted queue.
        """
        if replicas <= 0:
            return 0
        if replicas == 1:
            return self._add_standby(task)
        active, standby, queue = self._active, self._standby, self._queue
        changed: list[tuple[float, int]] = []
        for entry in queue:
            client = entry[1]
            if task in active[client] or task in standby[client]:
                changed.append(entry)
                continue
            standby[client].add(task)
            self._counts[client] += 1
            changed.append(self._entry(client))
            replicas -= 1
            if replicas == 0:
                break
        if len(changed) <= _FEW:
            del queue[: len(changed)]
            for entry in changed:
                insort(queue, entry)
        else:
            queue[: len(changed)] = changed
            queue.sort()
        return replicas

    def _add_standby(self, task: int) -> int:
        active, standby, queue = self._active, self._standby, self._queue
        for position, (_, client) in enumerate(queue):
            if task not in active[client] and task not in standby[client]:
                del queue[position]
                standby[client].add(task)
                self._counts[client] += 1
                insort(queue, self._entry(client))
                return 0
        return 1

    def add_standby_where(self, task: int, admits: Callable[[int], bool]) -> int | None:
        """Add one standby to the least loaded client that lacks ``task`` and satisfies ``admits``.

        Returns:
            The client, or ``None``. O(clients) at worst.
        """
        active, standby, queue = self._active, self._standby, self._queue
        for position, (_, client) in enumerate(queue):
            if admits(client) and task not in active[client] and task not in standby[client]:
                del queue[position]
                standby[client].add(task)
                self._counts[client] += 1
                insort(queue, self._entry(client))
                return client
        return None
