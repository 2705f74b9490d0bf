"""Choosing among the clients that a pin allows, on dense indices: keep the owner, else fewest tasks, then order.

Clients are numbered in the order of their process ids, so that the smaller number wins a tie. Cost for T choices among
C clients: T log C, and more only where clients are passed over.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heapify, heappop, heappush

__all__ = ["Candidates", "place_actives", "place_standbys"]


class Candidates:
    """Clients among which the one with the fewest tasks is looked for, again and again.

    Args:
        clients: Who may be chosen.
        counts: Number of tasks of every client; it is read at each choice, and numbers may only grow.
    """

    __slots__ = ("_counts", "_heap", "clients")

    def __init__(self, clients: Sequence[int], counts: Sequence[int]) -> None:
        self.clients = frozenset(clients)
        self._counts = counts
        self._heap = [(counts[client], client) for client in clients]
        heapify(self._heap)

    def least(self, passed_over: Collection[int] = ()) -> int | None:
        """The client with the fewest tasks that is not to be passed over; of several the first; ``None`` if none is."""
        heap, counts = self._heap, self._counts
        aside = []
        chosen = None
        while heap:
            count, client = heap[0]
            if count != counts[client]:
                heappop(heap)
                heappush(heap, (counts[client], client))
            elif client in passed_over:
                aside.append(heappop(heap))
            else:
                chosen = client
                break
        for entry in aside:
            heappush(heap, entry)
        return chosen


def place_actives(
    allowed: Mapping[int, Candidates], owners: Mapping[int, Sequence[int]], counts: list[int]
) -> dict[int, int]:
    """One client for each task.

    Everybody keeps what he may keep before anything is handed out, as a rebalance revokes before it assigns (KIP-987,
    steps 3 to 6).

    Args:
        allowed: Task to the clients that its pin allows, at least one; tasks in order.
        owners: Task to the clients that had it as active, in order.
        counts: Number of tasks of every client; grows with what is placed.
    """
    placed: dict[int, int] = {}
    for task, candidates in allowed.items():
        keepers = [client for client in owners.get(task, ()) if client in candidates.clients]
        if keepers:
            placed[task] = min(keepers, key=lambda client: (counts[client], client))
            counts[placed[task]] += 1
    for task, candidates in allowed.items():
        if task not in placed:
            least = candidates.least()
            assert least is not None, "a pin without clients was not sorted out"
            placed[task] = least
            counts[least] += 1
    return placed


def place_standbys(
    tasks: Mapping[int, tuple[Candidates, int]],
    owners: Mapping[int, Sequence[int]],
    holders: Mapping[int, set[int]],
    counts: list[int],
) -> dict[int, list[int]]:
    """Up to as many clients for each task as it asks for, none of which holds it already.

    Args:
        tasks: Task to the clients that are allowed, and how many standbys are asked for; tasks in order.
        owners: Task to the clients that had it as standby, in order.
        holders: Task to the clients that hold it in any role; grows with what is placed.
        counts: Number of tasks of every client; likewise.

    Returns:
        Task to its new standbys, in the order in which they were chosen; a task may get fewer than it asks for.
    """
    placed: dict[int, list[int]] = {task: [] for task in tasks}

    def place(task: int, client: int) -> None:
        placed[task].append(client)
        holders[task].add(client)
        counts[client] += 1

    for task, (candidates, wanted) in tasks.items():
        keepers = [c for c in owners.get(task, ()) if c in candidates.clients and c not in holders[task]]
        for keeper in sorted(keepers, key=lambda client: (counts[client], client))[:wanted]:
            place(task, keeper)
    for task, (candidates, wanted) in tasks.items():
        while len(placed[task]) < wanted:
            client = candidates.least(holders[task])
            if client is None:
                break
            place(task, client)
    return placed
