"""Finding the least loaded client without looking at all of them.

Clients of equal load form a group, which is a bitset over their places in one iteration order, so "the first of the
least loaded clients that do not hold the task" is a bit operation per group. Kafka scans all clients.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import attrs

__all__ = ["LoadRule", "Rank", "RankedClients"]

#: How loaded a client is: anything that can be ordered, and hashed as long as all clients have threads.
Rank: TypeAlias = Any


@attrs.frozen
class LoadRule:
    """How one assignor compares loads.

    ``rank(tasks, threads)`` grows with the number of tasks, and is least and equal for all clients without tasks.
    For clients of equal capacity every rule must order as the number of tasks does.
    """

    rank: Callable[[int, int], Rank]
    #: Whether a client that has neither threads nor tasks counts as free.
    is_idle_without_threads: bool


class RankedClients:
    """All clients grouped by load, each group in one iteration order.

    Args:
        order: The clients in that order.
        ranks: Rank of each client at the start.
    """

    __slots__ = ("_groups", "_order", "all", "bits", "ranks")

    def __init__(self, order: Sequence[int], ranks: Sequence[Rank]) -> None:
        self._order = order
        #: Bit of each client, to make masks of.
        self.bits = [0] * len(order)
        for place, client in enumerate(order):
            self.bits[client] = 1 << place
        #: The mask of all clients.
        self.all = (1 << len(order)) - 1
        self._groups: dict[Rank, int] = {}
        for client, rank in enumerate(ranks):
            self._groups[rank] = self._groups.get(rank, 0) | self.bits[client]
        #: Ranks that somebody has, ascending.
        self.ranks = sorted(self._groups)

    def move(self, client: int, old: Rank, new: Rank) -> None:
        """Moves ``client`` from rank ``old`` to the different rank ``new``."""
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
        """The first least loaded client that brings a new pair of tasks together; without one, the first least loaded.

        A client without tasks needs no new pair.

        Args:
            free: Mask of the clients that may be chosen, not empty.
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
