"""Kafka's graph, literally: residual edges, breadth-first augmentation, Bellman-Ford sweeps in node order.

Slow, without assumptions about costs: the reference for tests of both solvers (Kafka class ``Graph``).
Work per cancelled cycle: nodes x edges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import attrs

from assignment_api.errors import IllegalAssignmentStateError
from assignment_api.java import int32
from assignment_api.utils.rack_aware.flow_problem import FlowProblem

__all__ = ["EndlessCyclesError", "LiteralGraph", "literal_balance", "literal_min_traffic"]


@attrs.define(eq=False)
class _Edge:
    destination: int
    cost: int
    residual: int
    forward: bool
    flow: int
    counter: _Edge = attrs.field(init=False, repr=False)


class EndlessCyclesError(Exception):
    """The cancelling of cycles would never end."""


class LiteralGraph:
    """A directed graph with capacities, costs and a flow.

    Args:
        source: Node where flow enters; nodes are any integers, and their order is the order of the sweeps.
        sink: Node where flow leaves.
    """

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._edges: dict[int, dict[int, _Edge]] = {source: {}, sink: {}}
        self._originals: dict[tuple[int, int], _Edge] = {}

    def add_edge(self, start: int, end: int, capacity: int, cost: int, flow: int) -> None:
        forward = _Edge(end, int32(cost), capacity - flow, True, flow)
        backward = _Edge(start, int32(-int32(cost)), flow, False, 0)
        forward.counter, backward.counter = backward, forward
        self._edges.setdefault(start, {})[end] = forward
        self._edges.setdefault(end, {})[start] = backward
        self._originals[start, end] = forward

    def flow(self, start: int, end: int) -> int:
        return self._originals[start, end].flow

    def solve_max_flow(self) -> int:
        """Augments along shortest paths, neighbours in ascending order; returns the flow that was added."""
        added = 0
        while (path := self._augmenting_path()) is not None:
            amount = min(edge.residual for edge in path)
            for edge in path:
                _push(edge, amount)
            added += amount
        return added

    def _augmenting_path(self) -> list[_Edge] | None:
        entered: dict[int, _Edge | None] = {self._source: None}
        waiting = deque([self._source])
        while waiting:
            node = waiting.popleft()
            for neighbour in sorted(self._edges[node]):
                edge = self._edges[node][neighbour]
                if neighbour in entered or edge.residual == 0:
                    continue
                entered[neighbour] = edge
                if neighbour == self._sink:
                    return _back_to_start(entered, neighbour)
                waiting.append(neighbour)
        return None

    def solve_min_cost_flow(self) -> None:
        """Cancels negative cycles until none is left.

        Raises:
            IllegalAssignmentStateError: if the flow is not conserved at an inner node.
            EndlessCyclesError: if the flow returns to an earlier state.
        """
        self._check_flow()
        order = sorted(self._edges)
        edges = {node: [self._edges[node][end] for end in sorted(self._edges[node])] for node in order}
        seen = set()
        while (cycle := self._negative_cycle(order, edges)) is not None:
            flows = tuple(edge.flow for edge in self._originals.values())
            if flows in seen:
                raise EndlessCyclesError
            seen.add(flows)
            amount = min(edge.residual for edge in cycle)
            for edge in cycle:
                _push(edge, amount)

    def _check_flow(self) -> None:
        balance = dict.fromkeys(self._edges, 0)
        for (start, end), edge in self._originals.items():
            balance[start] -= edge.flow
            balance[end] += edge.flow
        for node, surplus in balance.items():
            if surplus != 0 and node not in (self._source, self._sink):
                raise IllegalAssignmentStateError(f"Input graph is not a feasible flow: node {node} keeps {surplus}")

    def _negative_cycle(self, order: list[int], edges: dict[int, list[_Edge]]) -> list[_Edge] | None:
        distance = dict.fromkeys(order, 0)
        entered: dict[int, _Edge] = {}
        last = len(order)  # one more sweep than nodes, including the artificial start
        for sweep in range(last + 1):
            relaxed = False
            for node in order:
                for edge in edges[node]:
                    if edge.residual == 0 or distance[edge.destination] <= distance[node] + edge.cost:
                        continue
                    distance[edge.destination] = distance[node] + edge.cost
                    entered[edge.destination] = edge
                    relaxed = True
                    if sweep == last:
                        return _cycle_behind(entered, edge.destination)
            if not relaxed:
                return None
        return None


def _push(edge: _Edge, amount: int) -> None:
    edge.residual -= amount
    if edge.forward:
        edge.flow += amount
    back = edge.counter
    back.residual += amount
    if back.forward and back.flow >= amount:
        back.flow -= amount


def _back_to_start(entered: dict[int, _Edge | None], node: int) -> list[_Edge]:
    path = []
    while (edge := entered[node]) is not None:
        path.append(edge)
        node = edge.counter.destination
    return path


def _cycle_behind(entered: dict[int, _Edge], node: int) -> list[_Edge]:
    seen: set[int] = set()
    while node not in seen:
        seen.add(node)
        node = entered[node].counter.destination
    cycle = []
    first = node
    while True:
        edge = entered[node]
        cycle.append(edge)
        node = edge.counter.destination
        if node == first:
            return cycle


# --- the two graphs of Kafka ----------------------------------------------------------------------

_SOURCE = -1


def literal_min_traffic(problem: FlowProblem) -> list[int]:
    """Client of each task after ``MinTrafficGraphConstructor``."""
    tasks, clients = len(problem.holder), len(problem.rack_of)
    sink = tasks + clients
    graph = LiteralGraph(_SOURCE, sink)
    for task, holder in enumerate(problem.holder):
        for client in range(clients):
            graph.add_edge(task, tasks + client, 1, problem.cost(task, client), int(client == holder))
        graph.add_edge(_SOURCE, task, 1, 0, 1)
    for client in range(clients):
        count = sum(holder == client for holder in problem.holder)
        graph.add_edge(tasks + client, sink, count, 0, count)
    graph.solve_min_cost_flow()
    return [next(client for client in range(clients) if graph.flow(task, tasks + client) == 1) for task in range(tasks)]


def literal_balance(
    problem: FlowProblem, counts: Sequence[int], capacities: Sequence[Sequence[int]]
) -> list[int] | None:
    """Client of each task after ``BalanceSubtopologyGraphConstructor``; None if a task cannot be placed."""
    tasks, clients, groups = len(problem.holder), len(counts), len(capacities)
    second = tasks + clients * groups
    sink = second + clients
    graph = LiteralGraph(_SOURCE, sink)
    for task, group in enumerate(problem.group_of):
        for client in range(clients):
            graph.add_edge(task, tasks + clients * group + client, 1, problem.cost(task, client), 0)
        graph.add_edge(_SOURCE, task, 1, 0, 0)
    for group, row in enumerate(capacities):
        for client, capacity in enumerate(row):
            graph.add_edge(tasks + clients * group + client, second + client, capacity, 0, 0)
    for client, count in enumerate(counts):
        graph.add_edge(second + client, sink, count, 0, 0)
    if graph.solve_max_flow() != tasks:
        return None
    graph.solve_min_cost_flow()
    return [
        next(
            client
            for client in range(clients)
            if graph.flow(task, tasks + clients * problem.group_of[task] + client) == 1
        )
        for task in range(tasks)
    ]
