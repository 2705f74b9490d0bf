"""The assignment problem of the rack-aware optimiser as plain numbers, and the cost of an answer.

Kafka builds a graph source -> tasks -> clients -> sink (KIP-925). Here are the common parts of its two shapes: tasks,
clients on racks, present owners, and costs.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

__all__ = ["HIGHEST_COST", "LOWEST_COST", "FlowProblem"]

#: Range of the cost of an edge in Kafka's graph.
LOWEST_COST, HIGHEST_COST = -(1 << 31), (1 << 31) - 1


@attrs.frozen
class FlowProblem:
    """Tasks of clients, and the cost of another placement.

    Tasks and clients are numbered in the order of Kafka's graph nodes. A client's cost for a task depends on its rack
    alone. Only the initial holder of the task saves ``non_overlap_cost``.

    Args:
        group_of: Group (sub-topology) of each task; tasks of a group are adjacent, groups ascend from 0.
        rack_of: Rack of each client, as a number from 0.
        rack_costs: For each rack, the traffic cost of each task on a client there.
        non_overlap_cost: Cost of a task on any client except its initial holder.
        holder: Initial client of each task.
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
        """Cost of ``task`` on ``client``, as an exact sum; Kafka's overflows."""
        traffic = self.rack_costs[self.rack_of[client]][task]
        return traffic if self.holder[task] == client else traffic + self.non_overlap_cost

    def total_cost(self, owner: Sequence[int]) -> int:
        """Cost of a whole placement, given as the client of each task."""
        return sum(self.cost(task, client) for task, client in enumerate(owner))

    def has_plain_costs(self) -> bool:
        """True if every cost is exact: none is negative, and none overflows the ``int`` of Kafka's graph.

        Kafka allows any integers in the configuration, and adds them up in 32 bits.
        """
        lowest = min([min(costs, default=0) for costs in self.rack_costs], default=0)
        highest = max([max(costs, default=0) for costs in self.rack_costs], default=0)
        return self.non_overlap_cost >= 0 and lowest >= 0 and highest + self.non_overlap_cost <= HIGHEST_COST
