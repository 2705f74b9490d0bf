"""The rack-aware optimiser's problem as plain numbers: the common parts of Kafka's two graphs (KIP-925)."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

__all__ = ["HIGHEST_COST", "LOWEST_COST", "FlowProblem"]

#: Range of an edge's cost in Kafka's graph.
LOWEST_COST, HIGHEST_COST = -(1 << 31), (1 << 31) - 1


@attrs.frozen
class FlowProblem:
    """Tasks of clients, and the cost of another placement.

    Numbered in the order of Kafka's graph nodes. Cost depends on a client's rack alone, but the initial holder saves
    ``non_overlap_cost``.

    Args:
        group_of: Sub-topology of each task: adjacent, ascending from 0.
        rack_costs: For each rack, the traffic cost of each task.
    """

    group_of: Sequence[int]
    rack_of: Sequence[int]
    rack_costs: Sequence[Sequence[int]]
    non_overlap_cost: int
    holder: Sequence[int]

    @property
    def groups(self) -> int:
        """Number of groups."""
        return self.group_of[-1] + 1 if self.group_of else 0

    def cost(self, task: int, client: int) -> int:
        """An exact sum; Kafka's overflows."""
        traffic = self.rack_costs[self.rack_of[client]][task]
        return traffic if self.holder[task] == client else traffic + self.non_overlap_cost

    def total_cost(self, owner: Sequence[int]) -> int:
        """Cost of a placement, given as the client of each task."""
        return sum(self.cost(task, client) for task, client in enumerate(owner))

    def has_plain_costs(self) -> bool:
        """True if no cost is negative or overflows Kafka's ``int``; configuration allows any integers."""
        lowest = min([min(costs, default=0) for costs in self.rack_costs], default=0)
        highest = max([max(costs, default=0) for costs in self.rack_costs], default=0)
        return self.non_overlap_cost >= 0 and lowest >= 0 and highest + self.non_overlap_cost <= HIGHEST_COST
