"""Choice among the clients that a pin allows, on dense indices: the owner, then fewest tasks, then order.

Clients are numbered in the order of their process ids, so that the smaller number wins a tie. Cost for T choices among
C clients: T log C, and more only if clients are skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heapify, heappop, heappush

__all__ = ["ClientCandidates", "place_actives", "place_standbys"]


class ClientCandidates:
    """Clients for repeated choices of the one with the fewest tasks.

    Args:
        counts: Number of tasks of every client; read at each choice, and numbers may only grow.
    """

    __slots__ = ("_counts", "_heap", "clients")

    def __init__(self, clients: Sequence[int], counts: Sequence[int]) -> None:
        self.clients = frozenset(clients)
        self._counts = counts
        self._heap = [(counts[client], client) for client in clients]
        heapify(self._heap)

    def least(self, passed_over: Collection[int] = ()) -> int | None:
        """The first client with the fewest tasks that is not in ``passed_over``; ``None`` if there is none."""
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
    allowed: Mapping[int, ClientCandidates], owners: Mapping[int, Sequence[int]], counts: list[int]
) -> dict[int, int]:
    """Choose one client for each task.

    All owners keep their tasks before any other task is placed, as a rebalance revokes before it assigns (KIP-987,
    steps 3 to 6).

    Args:
        allowed: Task to the clients that its pin allows, at least one; tasks in order.
        owners: Task to its previous active clients, in order.
        counts: Number of tasks of every client; grows with the placed tasks.
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
    tasks: Mapping[int, tuple[ClientCandidates, int]],
    owners: Mapping[int, Sequence[int]],
    holders: Mapping[int, set[int]],
    counts: list[int],
) -> dict[int, list[int]]:
    """Choose up to the configured number of standby clients for each task, without clients that hold it already.

    Args:
        tasks: Task to its allowed clients, and the configured number of standbys; tasks in order.
        owners: Task to its previous standby clients, in order.
        holders: Task to the clients that hold it in any role; grows with the placed tasks.
        counts: Number of tasks of every client; grows with the placed tasks.

    Returns:
        Task to its new standbys, in the order of choice; possibly fewer than configured.
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
