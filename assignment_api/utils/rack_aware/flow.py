"""Unfinished placement on the layers of Kafka's graph of balanced sub-topologies."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

import attrs

from assignment_api.utils.rack_aware.flow_problem import FlowProblem

__all__ = ["UnfinishedFlow"]


@attrs.define(eq=False)
class UnfinishedFlow:
    """Owners of tasks, and tasks of each client by group.

    Args:
        owner: Client of each task; changed in place.
        second_stage: For each group the most tasks of a client.
    """

    problem: FlowProblem
    owner: list[int]
    second_stage: list[list[int]]
    #: Tasks of each place (group x clients + client), ascending.
    held: list[list[int]] = attrs.field(init=False)
    #: The same with each task's cost there.
    held_costs: list[list[tuple[int, int]]] = attrs.field(init=False)
    #: First task of each group, and end.
    spans: list[tuple[int, int]] = attrs.field(init=False)
    span_costs: list[list[Sequence[int]]] = attrs.field(init=False)
    places_by_rack: list[list[list[int]]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        problem = self.problem
        clients = len(problem.rack_of)
        self.held = [[] for _ in range(max(problem.groups, 1) * clients)]
        for task, client in enumerate(self.owner):
            self.held[problem.group_of[task] * clients + client].append(task)
        self.held_costs = [[] for _ in self.held]
        for place in range(len(self.held)):
            self._note_costs(place)
        ends = [bisect_right(problem.group_of, group) for group in range(problem.groups)]
        self.spans = list(zip([0, *ends], ends, strict=False))
        self.span_costs = [[costs[first:end] for costs in problem.rack_costs] for first, end in self.spans]

        self.places_by_rack = [
            [
                [group * clients + client for client, at in enumerate(problem.rack_of) if at == rack]
                for rack in range(len(problem.rack_costs))
            ]
            for group in range(problem.groups)
        ]

    def _note_costs(self, place: int) -> None:
        client = place % len(self.problem.rack_of)
        self.held_costs[place] = [(task, self.problem.cost(task, client)) for task in self.held[place]]

    def give(self, task: int, client: int) -> None:
        """Move ``task`` to ``client``."""
        clients = len(self.problem.rack_of)
        base = self.problem.group_of[task] * clients
        self.held[base + self.owner[task]].remove(task)
        insort(self.held[base + client], task)
        self._note_costs(base + self.owner[task])
        self._note_costs(base + client)
        self.owner[task] = client

    def nodes(self) -> int:
        """Nodes of Kafka's graph, including source and sink."""
        tasks, clients = len(self.owner), len(self.problem.rack_of)
        return tasks + clients + 2 + self.problem.groups * clients
