"""In which order the clients without a task are looked at when it gets a standby.

Kafka collects them in a ``HashSet`` for every standby. The order of that set depends on its size class only, apart
from crowded slots, so it is computed once per class (reference 9.2).
"""

from __future__ import annotations

from collections.abc import Collection

from assignment_api.java import DEFAULT_CAPACITY, fits_plain, grown_capacity, iteration_order, spread
from builtin_assignors._sticky_steps.placement import Placement
from builtin_assignors._sticky_steps.problem import StickyProblem
from builtin_assignors._sticky_steps.ranking import RankedClients

__all__ = ["StandbyCandidates"]


class StandbyCandidates:
    """Orders of all sets "the clients but at most ``num_standbys`` of them".

    Args:
        problem: The input.
        placement: Whose loads count; its later changes are seen.
    """

    __slots__ = ("_by_excluded", "_problem")

    def __init__(self, problem: StickyProblem, placement: Placement) -> None:
        self._problem = problem
        clients = len(problem.capacities)
        most_excluded = max(0, min(problem.num_standbys, clients))
        classes: dict[int, RankedClients | None] = {}
        self._by_excluded: list[RankedClients | None] = []
        for excluded in range(most_excluded + 1):
            capacity = grown_capacity(clients - excluded)
            if capacity not in classes:
                classes[capacity] = _ranking(problem, placement, capacity, most_excluded)
            self._by_excluded.append(classes[capacity])

    def ranking(self, excluded: int) -> RankedClients | None:
        """The clients by load, in the order of a set that lacks ``excluded`` of them; None if each set has its own."""
        return self._by_excluded[excluded]

    def listed(self, excluded: Collection[int]) -> list[int]:
        """The clients that are not in ``excluded``, in the order of Kafka's ``HashSet``."""
        problem = self._problem
        rest = [client for client in range(len(problem.capacities)) if client not in excluded]
        hashes = [problem.client_hashes[client] for client in rest]
        return iteration_order(rest, hashes, sort_key=problem.client_ranks.__getitem__)


def _ranking(problem: StickyProblem, placement: Placement, capacity: int, most_excluded: int) -> RankedClients | None:
    hashes = problem.client_hashes
    passed = DEFAULT_CAPACITY
    while passed < capacity:
        # What was inserted before the table grew lies, whoever is excluded, within this many clients.
        if not fits_plain(hashes[: 3 * passed // 4 + 1 + most_excluded], passed):
            return None
        passed *= 2
    if not fits_plain(hashes, capacity):
        return None
    slots = [spread(code) & capacity - 1 for code in hashes]
    return placement.ranking(sorted(range(len(hashes)), key=slots.__getitem__))
