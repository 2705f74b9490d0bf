"""Order of the clients without a task, when the task gets a standby.

Kafka collects them in a ``HashSet`` for every standby. Unless a slot of that set gets crowded, its order depends only
on its size class, so one ranking per class serves all sets. Bit operations detect crowded slots.
"""

from __future__ import annotations

from collections.abc import Collection

import attrs

from assignment_api.java import DEFAULT_CAPACITY, MAX_CHAIN, grown_capacity, iteration_order, spread
from builtin_assignors._sticky_steps.placement import StickyPlacement
from builtin_assignors._sticky_steps.problem import StickyProblem
from builtin_assignors._sticky_steps.ranking import RankedClients

__all__ = ["StandbyCandidates"]


@attrs.frozen
class _Stage:
    """One size of a growing table, with the slots that could get crowded at that size."""

    inserted: int
    #: Members of each slot that could get more than eight of them, as bitsets of clients.
    crowds: list[int]

    def is_crowded(self, excluded: int) -> bool:
        """True if a slot gets more than eight clients without those of the bitset ``excluded``."""
        end, counted = self.inserted, -1
        while end != counted:  # the clients up to the last inserted one, without the excluded ones
            counted, end = end, self.inserted + (excluded & (1 << end) - 1).bit_count()
        present = (1 << end) - 1 & ~excluded
        return any((crowd & present).bit_count() > MAX_CHAIN for crowd in self.crowds)


@attrs.frozen
class _SizeClass:
    """All sets of clients with the same final size of Java's table."""

    ranking: RankedClients | None
    stages: list[_Stage]


class StandbyCandidates:
    """All sets of clients that exclude at most ``num_standbys`` of them.

    Args:
        placement: Present loads; later changes are visible here.
    """

    __slots__ = ("_classes", "_problem")

    def __init__(self, problem: StickyProblem, placement: StickyPlacement) -> None:
        self._problem = problem
        clients = len(problem.capacities)
        most_excluded = max(0, min(problem.num_standbys, clients))
        known: dict[int, _SizeClass] = {}
        self._classes: list[_SizeClass] = []
        for excluded in range(most_excluded + 1):
            capacity = grown_capacity(clients - excluded)
            if capacity not in known:
                known[capacity] = _size_class(problem, placement, capacity, most_excluded)
            self._classes.append(known[capacity])

    def ranking(self, num_excluded: int, excluded: int) -> RankedClients | None:
        """The clients by load, in the order of the set without the ``num_excluded`` clients of the bitset ``excluded``.

        None if that set has an order of its own, or loads cannot be ranked; use :meth:`listed` then.
        """
        size_class = self._classes[num_excluded]
        if size_class.stages and any(stage.is_crowded(excluded) for stage in size_class.stages):
            return None
        return size_class.ranking

    def common_ranking(self, num_excluded: int) -> RankedClients | None:
        """Result of :meth:`ranking` for all sets without ``num_excluded`` clients, or None if they differ."""
        size_class = self._classes[num_excluded]
        return None if size_class.stages else size_class.ranking

    def listed(self, excluded: Collection[int]) -> list[int]:
        """The clients outside ``excluded``, in the order of Kafka's ``HashSet``."""
        problem = self._problem
        rest = [client for client in range(len(problem.capacities)) if client not in excluded]
        hashes = [problem.client_hashes[client] for client in rest]
        return iteration_order(rest, hashes, sort_key=problem.client_ranks.__getitem__)


def _size_class(problem: StickyProblem, placement: StickyPlacement, capacity: int, most_excluded: int) -> _SizeClass:
    clients = len(problem.client_hashes)
    stages = []
    passed = DEFAULT_CAPACITY
    while passed <= capacity:
        inserted = clients if passed == capacity else 3 * passed // 4 + 1
        crowds = _crowds(problem, passed, min(clients, inserted + most_excluded))
        if crowds:
            stages.append(_Stage(inserted, crowds))
        passed *= 2
    slots = [spread(code) & capacity - 1 for code in problem.client_hashes]
    return _SizeClass(placement.ranking(sorted(range(clients), key=slots.__getitem__)), stages)


def _crowds(problem: StickyProblem, capacity: int, clients: int) -> list[int]:
    members: dict[int, int] = {}
    for client in range(clients):
        slot = spread(problem.client_hashes[client]) & capacity - 1
        members[slot] = members.get(slot, 0) | 1 << client
    return [crowd for crowd in members.values() if crowd.bit_count() > MAX_CHAIN]
