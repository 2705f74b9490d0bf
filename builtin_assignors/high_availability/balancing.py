"""Ideal placement: round robin, levelling between clients, stateless tasks.

Clients and tasks are dense indices; clients are in the order of their process ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from heapq import heapify, heapreplace
from math import inf

from assignment_api.utils.standby import load_without_threads

__all__ = ["assign_round_robin", "assign_to_least_active", "level"]


def assign_round_robin(tasks: Sequence[int], clients: int) -> list[set[int]]:
    """Deal ``tasks`` to ``clients`` one by one; returns the active tasks of each client."""
    return [set(tasks[client::clients]) for client in range(clients)]


def level(
    moving: Sequence[set[int]],
    fixed: Sequence[AbstractSet[int]],
    capacities: Sequence[int],
    allowed: Callable[[int, int], bool] | None = None,
) -> None:
    """Move tasks from busier to less busy clients until no single move makes the load more even.

    Kafka's ``balanceTasksOverThreads``: all ordered pairs of clients, repeated until no task moves, the tasks of a
    client in ascending order. A pair that cannot move a task is skipped without a look at its tasks.

    Args:
        moving: The tasks that may move, for each client; changed in place.
        fixed: The other tasks of each client, which count as load and block a task of the same number.
        allowed: Whether tasks may go from one client to another; ``None``: always.
    """
    clients = range(len(capacities))
    counts = [len(moving[client]) + len(fixed[client]) for client in clients]
    # Load of each client with one task more: no task moves from a client to one that would end up above it.
    raised = [(counts[client] + 1) / capacities[client] if capacities[client] else inf for client in clients]
    moved = True
    while moved:
        moved = False
        for source in clients:
            if capacities[source] == 0:
                continue
            # Destinations only rise while tasks leave this source, so this stays a lower bound until the next one.
            lowest = min(raised)
            for destination in clients:
                if (counts[source] - 1) / capacities[source] < lowest:
                    break
                if source == destination or (counts[source] - 1) / capacities[source] < raised[destination]:
                    continue
                if allowed is not None and not allowed(source, destination):
                    continue
                if _level_pair(source, destination, moving, fixed, counts, capacities):
                    moved = True
                    raised[destination] = (counts[destination] + 1) / capacities[destination]
                    raised[source] = (counts[source] + 1) / capacities[source]


def _level_pair(
    source: int,
    destination: int,
    moving: Sequence[set[int]],
    fixed: Sequence[AbstractSet[int]],
    counts: list[int],
    capacities: Sequence[int],
) -> bool:
    moved = False
    for task in sorted(moving[source]):
        skew = counts[source] / capacities[source] - counts[destination] / capacities[destination]
        if skew <= 0:
            break
        levelled = (counts[source] - 1) / capacities[source] - (counts[destination] + 1) / capacities[destination]
        if levelled < 0 or levelled >= skew:
            break
        if task in moving[destination] or task in fixed[destination]:
            continue
        moving[source].remove(task)
        moving[destination].add(task)
        counts[source] -= 1
        counts[destination] += 1
        moved = True
    return moved


def assign_to_least_active(tasks: Sequence[int], active: Sequence[set[int]], capacities: Sequence[int]) -> None:
    """Give each task to the client with the fewest active tasks per thread; ``active`` is changed in place.

    Kafka takes a queue of clients ordered by (active load, process id), from which a client is out while its load
    changes. A plain heap gives the same order.
    """
    counts = [len(held) for held in active]
    queue = [(_load(count, capacities[client]), client) for client, count in enumerate(counts)]
    heapify(queue)
    for task in tasks:
        client = queue[0][1]
        active[client].add(task)
        counts[client] += 1
        heapreplace(queue, (_load(counts[client], capacities[client]), client))


def _load(count: int, capacity: int) -> float:
    return count / capacity if capacity else load_without_threads(count)
