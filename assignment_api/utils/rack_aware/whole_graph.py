"""Min-cost flow on the whole graph: for costs that are negative, or that overflow Java's 32-bit integers.

It handles every node and edge separately, and cancels the same cycles as Kafka's ``Graph``. A node that did not fall
since its last scan is skipped. So are repeating periods of sweeps (as in ``growth``).

Kafka's cost of an edge is a wrapped sum, and the edge back has the negated cost. For the lowest integer that is the
lowest integer again: then a cycle and its reverse can both be negative, and Kafka loops forever. A repeated placement
shows that.

Work for each cycle: executed sweeps x edges of nodes that fell. Memory: 129 snapshots of the distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add

from assignment_api.errors import AssignorLabError
from assignment_api.java.hashing import int32
from assignment_api.utils.rack_aware.flow_problem import LOWEST_COST, FlowProblem
from assignment_api.utils.rack_aware.repetition import UNBOUNDED, FallHistory

__all__ = ["EndlessOptimizationError", "cancel_all_cycles"]

#: First in Kafka's order. The sink is last; it neither is relaxed nor relaxes.
_SOURCE = 0
_NOBODY = -1


class EndlessOptimizationError(AssignorLabError):
    """Kafka's search never ends, because its costs overflow; the rebalance hangs."""


def cancel_all_cycles(
    problem: FlowProblem, owner: Sequence[int], second_stage: Sequence[Sequence[int]] | None = None
) -> list[int]:
    """Client of each task once no negative cycle is left.

    Args:
        owner: Initial client of each task.
        second_stage: As for :class:`~assignment_api.utils.rack_aware.flow.UnfinishedFlow`.

    Raises:
        EndlessOptimizationError: if Kafka's search never ends.
    """
    network = _Network(problem, owner, second_stage)
    seen: set[tuple[int, ...]] = set()
    while (moves := network.next_cycle()) is not None:
        if network.has_lowest_cost:
            if tuple(network.owner) in seen:
                raise EndlessOptimizationError(
                    "the traffic cost overflows Java's 32-bit integers, and Kafka's search for a cheaper placement "
                    "never ends: lower rack.aware.assignment.traffic_cost or rack.aware.assignment.non_overlap_cost"
                )
            seen.add(tuple(network.owner))
        network.move(moves)
    return network.owner


class _Network:
    """Residual graph. Nodes: source, tasks, places (group x clients + client), clients, sink."""

    __slots__ = (
        "_clients",
        "_costs",
        "_first_client",
        "_first_place",
        "_problem",
        "_second_stage",
        "_sweeps",
        "edges",
        "has_lowest_cost",
        "owner",
    )

    def __init__(
        self, problem: FlowProblem, owner: Sequence[int], second_stage: Sequence[Sequence[int]] | None
    ) -> None:
        self._problem = problem
        self._clients = len(problem.rack_of)
        self._second_stage = second_stage
        self.owner = list(owner)
        self._costs = [
            [int32(problem.cost(task, client)) for client in range(self._clients)] for task in range(len(owner))
        ]
        self.has_lowest_cost = any(LOWEST_COST in costs for costs in self._costs)
        self._first_place = 1 + len(owner)
        self._first_client = self._first_place + max(problem.groups, 1) * self._clients
        inner = self._first_client + (self._clients if second_stage is not None else 0)
        #: One for each node, before the last one.
        self._sweeps = inner + 1
        #: Edges with room: (end, cost), ends ascending.
        self.edges: list[list[tuple[int, int]]] = [[] for _ in range(inner)]
        self._note_edges(range(len(owner)))

    def move(self, moves: Sequence[tuple[int, int]]) -> None:
        """Apply (task, client) pairs."""
        for task, client in moves:
            self.owner[task] = client
        self._note_edges([task for task, _ in moves])

    def _note_edges(self, tasks: Sequence[int]) -> None:
        group_of, clients = self._problem.group_of, self._clients
        for task in tasks:
            base = self._first_place + group_of[task] * clients
            costs = self._costs[task]
            self.edges[1 + task] = [
                (_SOURCE, 0),
                *[(base + client, costs[client]) for client in range(clients) if client != self.owner[task]],
            ]
        for node in range(self._first_place, len(self.edges)):
            self.edges[node] = []
        for task, client in enumerate(self.owner):
            place = self._first_place + group_of[task] * clients + client
            self.edges[place].append((1 + task, int32(-self._costs[task][client])))
        for group, capacities in enumerate(self._second_stage or ()):
            for client, capacity in enumerate(capacities):
                place = self._first_place + group * clients + client
                held = len(self.edges[place])
                if held:
                    self.edges[self._first_client + client].append((place, 0))
                if held < capacity:
                    self.edges[place].append((self._first_client + client, 0))

    def next_cycle(self) -> list[tuple[int, int]] | None:
        """Moves (task, new client) of the next cycle."""
        search = _Search(self.edges)
        history = FallHistory()
        sweep = 0
        while sweep < self._sweeps:
            if not search.sweep():
                return None
            sweep += 1
            if sweep >= self._sweeps - 1:
                continue
            history.add(list(search.distance))
            period = history.period()
            if period is None or sweep + period[0] >= self._sweeps - 1:
                continue
            length, falls = period
            limit = search.play_period(length, falls)
            sweep += length
            skipped = min(limit, (self._sweeps - 1 - sweep) // length)
            if skipped > 0:
                search.fall(falls, skipped)
                sweep += skipped * length
            history = FallHistory(pause=0 if skipped > 0 else 2 * length)
        hit = search.last_sweep()
        return None if hit is None else self._moves(search.cycle_behind(hit))

    def _moves(self, cycle: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        return [
            (start - 1, (end - self._first_place) % self._clients)
            for start, end in cycle
            if _SOURCE < start < self._first_place <= end
        ]


class _Search:
    __slots__ = ("_changed", "_edges", "_parent", "distance")

    def __init__(self, edges: Sequence[Sequence[tuple[int, int]]]) -> None:
        self._edges = edges
        self.distance = [0] * len(edges)
        self._parent = [_NOBODY] * len(edges)
        self._changed = bytearray(b"\1") * len(edges)

    def sweep(self) -> bool:
        """Sweep all nodes in order; True if any fell."""
        distance, parent, changed = self.distance, self._parent, self._changed
        relaxed = False
        for node, edges in enumerate(self._edges):
            if not changed[node]:
                continue
            changed[node] = 0
            start = distance[node]
            for end, cost in edges:
                if start + cost < distance[end]:
                    distance[end] = start + cost
                    parent[end] = node
                    changed[end] = 1
                    relaxed = True
        return relaxed

    def last_sweep(self) -> int | None:
        """The first node that one more sweep relaxes."""
        for node, edges in enumerate(self._edges):
            if self._changed[node]:
                for end, cost in edges:
                    if self.distance[node] + cost < self.distance[end]:
                        self._parent[end] = node
                        return end
        return None

    def cycle_behind(self, node: int) -> list[tuple[int, int]]:
        """Edges (start, end) of the cycle behind ``node``."""
        seen: set[int] = set()
        while node not in seen:
            seen.add(node)
            node = self._parent[node]
        cycle = [(self._parent[node], node)]
        while cycle[-1][0] != node:
            cycle.append((self._parent[cycle[-1][0]], cycle[-1][0]))
        return cycle

    def fall(self, falls: Sequence[int], periods: int) -> None:
        """Add ``periods`` times ``falls``."""
        self.distance = [value + periods * fall for value, fall in zip(self.distance, falls, strict=True)]
        self._changed = bytearray(b"\1") * len(self.distance)

    def play_period(self, length: int, falls: Sequence[int]) -> int:
        """Run ``length`` sweeps; returns for how many further periods (perhaps 0) comparisons keep their results.

        Args:
            falls: During the last ``length`` sweeps.
        """
        expected = list(map(add, self.distance, falls))
        rates = list(falls)
        limit = UNBOUNDED
        for _ in range(length):
            limit = min(limit, self._growing_sweep(rates))
        self._changed = bytearray(b"\1") * len(self.distance)
        return limit if self.distance == expected and rates == falls else 0

    def _growing_sweep(self, rates: list[int]) -> int:
        distance = self.distance
        limit = UNBOUNDED
        for node, edges in enumerate(self._edges):
            start, rate = distance[node], rates[node]
            for end, cost in edges:
                ahead = distance[end] - start - cost
                gain = rate - rates[end]
                if ahead > 0:
                    if gain > 0:
                        limit = min(limit, (ahead - 1) // gain)
                    distance[end] = start + cost
                    rates[end] = rate
                    self._parent[end] = node
                elif gain < 0:
                    limit = min(limit, ahead // gain)
        return limit
