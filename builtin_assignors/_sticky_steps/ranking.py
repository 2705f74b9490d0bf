"""Search for the least loaded client without a scan of all clients.

Clients of equal load form a group: a bitset over their places in one iteration order. "The first of the least loaded
clients that do not hold the task" is then a bit operation per group. Kafka scans all clients.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import attrs

__all__ = ["LoadRule", "Rank", "RankedClients"]

#: Load of a client: comparable, and hashable if all clients have threads.
Rank: TypeAlias = Any


@attrs.frozen
class LoadRule:
    """An assignor's comparison of loads.

    ``rank(tasks, threads)`` grows with the number of tasks. All clients without tasks have the same, least rank. For
    clients of equal capacity every rule must order by the number of tasks.
    """

    rank: Callable[[int, int], Rank]
    #: True if a client with neither threads nor tasks counts as free.
    is_idle_without_threads: bool


class RankedClients:
    """All clients grouped by load, each group in one iteration order."""

    __slots__ = ("_groups", "_order", "all", "bits", "ranks")

    def __init__(self, order: Sequence[int], ranks: Sequence[Rank]) -> None:
        self._order = order
        self.bits = [0] * len(order)
        for place, client in enumerate(order):
            self.bits[client] = 1 << place
        self.all = (1 << len(order)) - 1
        self._groups: dict[Rank, int] = {}
        for client, rank in enumerate(ranks):
            self._groups[rank] = self._groups.get(rank, 0) | self.bits[client]
        #: Ranks in use, ascending.
        self.ranks = sorted(self._groups)

    def move(self, client: int, old: Rank, new: Rank) -> None:
        groups = self._groups
        bit = self.bits[client]
        left = groups[old] ^ bit
        if left:
            groups[old] = left
        else:
            del groups[old]
            del self.ranks[bisect_left(self.ranks, old)]
        if new in groups:
            groups[new] |= bit
        else:
            groups[new] = bit
            insort(self.ranks, new)

    def least_loaded(self, free: int, tasks: Sequence[int], unpaired: int) -> int:
        """The first least loaded client that brings a new pair of tasks together, otherwise the first least loaded.

        A client without tasks needs no new pair.

        Args:
            tasks: Bitset of the tasks of each client.
            unpaired: Bitset of the tasks that the task to be placed never met.
        """
        fallback = -1
        for rank in self.ranks:
            group = self._groups[rank] & free
            if group and not unpaired:
                return self._order[(group & -group).bit_length() - 1]
            while group:
                bit = group & -group
                client = self._order[bit.bit_length() - 1]
                held = tasks[client]
                if not held or held & unpaired:
                    return client
                if fallback < 0:
                    fallback = client
                group ^= bit
        return fallback
