"""Standbys on the least loaded clients (Kafka: ``DefaultStandbyTaskAssignor``).

Clients are dense indices in the order of their process ids, so that (load, index) is Kafka's order of a queue of
clients. A client's load changes only while it is outside that queue, hence "least (load, index) that does not hold
the task" is exactly what Kafka's heap answers, and a sorted list serves as the queue.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from math import inf

__all__ = ["ClientsByLoad", "assign_least_loaded", "load_without_threads"]

#: Above every load that there can be, and below what stands for "not a number".
_INFINITE = 1e300

#: Up to so many changed entries are put back one by one; more of them are cheaper to sort in at once.
_FEW = 4


def assign_least_loaded(
    tasks: Iterable[int],
    replicas: int,
    capacities: Sequence[int],
    active: Sequence[AbstractSet[int]],
    standby: Sequence[set[int]],
) -> dict[int, int]:
    """Gives each task ``replicas`` standbys, each on the least loaded client that does not hold the task yet.

    Args:
        tasks: Stateful tasks; their order decides.
        replicas: Standbys of each task; nothing happens below 1.
        capacities: Number of threads of each client.
        active: Active tasks of each client.
        standby: Standby tasks of each client; changed in place.

    Returns:
        Tasks that could not get all their standbys to the number that is missing.
    """
    clients = ClientsByLoad(capacities, active, standby)
    missing = {task: clients.add_standbys(task, replicas) for task in tasks}
    return {task: left for task, left in missing.items() if left > 0}


def load_without_threads(count: int) -> float:
    """Load of a client that has no thread, as a number that sorts where Java's quotient does.

    Java divides doubles: infinity for any task at all, and "not a number", which sorts last, for none. A client
    without tasks is thus the last one to get any.
    """
    return _INFINITE if count else inf


class ClientsByLoad:
    """All clients, ordered by (tasks per thread, client), while standbys are added to them.

    Args:
        capacities: Number of threads of each client.
        active: Active tasks of each client.
        standby: Standby tasks of each client; changed in place.
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
        """Adds standbys of ``task`` to the least loaded clients that do not hold it; answers how many are missing.

        O(log clients + replicas), with one sort of the nearly sorted queue where there are many replicas.
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
        """The same for one standby, which is the commonest number: the clients before the chosen one stay in place."""
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
        """Adds one standby of ``task`` to the least loaded client that does not hold it and that ``admits`` accepts.

        Returns:
            The client, or ``None`` if there is no such client. O(clients) at worst.
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
