"""Min-cost flow by cancelling the very cycles that Kafka cancels, without its graph.

Kafka finds each negative cycle with Bellman-Ford sweeps over all nodes in ascending order, never stopping early, and
the cycle it cancels is the one in the parent graph after the *last* sweep (reference 3.6); any other choice gives
another placement. So every sweep has to be accounted for, but not played:

* The graph has layers (tasks, clients of each group, with a second stage the clients themselves), so a sweep is a few
  synchronous steps. A task's distance changes through its owner alone, and a client's candidates differ by rack only:
  one minimum for each group and rack serves all its clients.
* A node that did not change since it was last scanned relaxes nobody.
* Once a negative cycle turns, distances fall by the same amounts in every period of sweeps. Then one period is played
  with growth rates beside the values, which tells for how many periods no comparison changes its outcome; those are
  skipped at once.

Needs costs that are not negative, for only then a client's own tasks can take part in the minima (they never win),
and that do not overflow Java's integers, for only then a cost is a sum; ``whole_graph`` takes all others.
Work for each cycle: sweeps played x tasks that changed x racks. Memory: 129 snapshots of the distances.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

import attrs

from assignment_api.utils.rack_aware.distances import Distances
from assignment_api.utils.rack_aware.flow_problem import FlowProblem
from assignment_api.utils.rack_aware.growth import play_period
from assignment_api.utils.rack_aware.repetition import FallHistory

__all__ = ["Flow", "cancel_cycles"]


@attrs.define(eq=False)
class Flow:
    """A placement under way.

    Args:
        problem: What is to be placed.
        owner: Client of each task; changed in place.
        second_stage: For each group the number of its tasks that a client may hold; ``None`` in Kafka's graph of the
            minimal traffic, where only the number of tasks per client is fixed.
    """

    problem: FlowProblem
    owner: list[int]
    second_stage: list[list[int]] | None = None
    #: Tasks of each client, for each group (index: group x clients + client), ascending.
    held: list[list[int]] = attrs.field(init=False)
    #: The same with the cost of each task there.
    held_costs: list[list[tuple[int, int]]] = attrs.field(init=False)
    #: First task of each group, and the one after its last.
    spans: list[tuple[int, int]] = attrs.field(init=False)
    #: For each group and rack, the traffic costs of the group's tasks.
    span_costs: list[list[Sequence[int]]] = attrs.field(init=False)
    #: For each group and rack, the places of the group whose clients are there.
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
        """Moves ``task`` to ``client``."""
        clients = len(self.problem.rack_of)
        base = self.problem.group_of[task] * clients
        self.held[base + self.owner[task]].remove(task)
        insort(self.held[base + client], task)
        self._note_costs(base + self.owner[task])
        self._note_costs(base + client)
        self.owner[task] = client

    def nodes(self) -> int:
        """Number of nodes of Kafka's graph, source and sink counted in."""
        tasks, clients = len(self.owner), len(self.problem.rack_of)
        return tasks + clients + 2 + (self.problem.groups * clients if self.second_stage is not None else 0)


def cancel_cycles(flow: Flow) -> None:
    """Moves tasks until no negative cycle is left, cycle by cycle as Kafka does; ``flow`` is changed in place."""
    while (moves := _next_cycle(flow)) is not None:
        for task, client in moves:
            flow.give(task, client)


def _next_cycle(flow: Flow) -> list[tuple[int, int]] | None:
    """The moves (task, new client) of the cycle that Kafka would cancel next."""
    distances = Distances(flow)
    history = FallHistory()
    last = flow.nodes()
    sweep = 0
    while sweep < last:
        distances.note_source()
        if not distances.sweep():
            return None
        sweep += 1
        if sweep >= last - 1:
            continue
        history.add(distances.snapshot())
        period = history.period()
        if period is None or sweep + period[0] >= last - 1:
            continue
        length, gains = period
        limit = play_period(distances, length, gains)
        sweep += length
        skipped = min(limit, (last - 1 - sweep) // length)
        if skipped > 0:
            distances.fall(gains, skipped)
            sweep += skipped * length
        history = FallHistory(pause=0 if skipped > 0 else 2 * length)
    return distances.last_sweep()
