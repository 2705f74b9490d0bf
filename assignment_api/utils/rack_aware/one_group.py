"""Min-cost flow of one group of tasks, by exactly the cycles that Kafka cancels (as in ``cycle_canceling``).

A task's distance follows from that of its client, so a sweep is a step on the clients alone. The cheapest task of each
client for each rack serves all clients of the rack. A step depends only on differences of distances: when they repeat,
all distances have fallen alike, and whole periods of sweeps are left out.

Costs are as in ``cycle_canceling``. Work for each cycle: sweeps before the first repetition x clients x racks.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import sub

from assignment_api.utils.rack_aware.flow_problem import FlowProblem

__all__ = ["cancel_cycles"]

_FROM_START = -1


def cancel_cycles(problem: FlowProblem, owner: list[int]) -> None:
    """Cancel cycles in Kafka's order until none is negative; changes ``owner``, the holders at first."""
    if not owner or (len(problem.rack_of) == 2 and not _exchange_pays(problem)):
        return
    clients = _Clients(problem, owner)
    while (cycle := clients.next_cycle()) is not None:
        clients.move(cycle)


def _exchange_pays(problem: FlowProblem) -> bool:
    """True if two clients have a negative cycle: a task there and one back that cost less in their new places."""
    first, second = (problem.rack_costs[rack] for rack in problem.rack_of)
    growths = list(map(sub, second, first))
    there = [growth for growth, client in zip(growths, problem.holder, strict=True) if client == 0]
    back = [growth for growth, client in zip(growths, problem.holder, strict=True) if client == 1]
    return bool(there and back) and min(there) - max(back) + 2 * problem.non_overlap_cost < 0


class _Clients:
    __slots__ = ("_away", "_cheapest", "_held", "_own_cost", "_owner", "_parent", "_problem")

    def __init__(self, problem: FlowProblem, owner: list[int]) -> None:
        self._problem = problem
        self._owner = owner
        self._own_cost = [problem.cost(task, client) for task, client in enumerate(owner)]
        self._held: list[list[int]] = [[] for _ in problem.rack_of]
        for task, client in enumerate(owner):
            self._held[client].append(task)
        #: For each rack, by client: growth of the cost by its cheapest move to a client there, and the first such task,
        #: as one number: growth x tasks + task.
        self._cheapest: list[dict[int, int]] = [{} for _ in problem.rack_costs]
        #: Tasks away from their first holder, by holder: they are cheaper there than its rack implies.
        self._away: dict[int, set[int]] = {}
        for task, client in enumerate(owner):
            if client != problem.holder[task]:
                self._away.setdefault(problem.holder[task], set()).add(task)
        self._note_cheapest(range(len(problem.rack_of)))
        self._parent: list[int] = []

    def move(self, cycle: dict[int, int]) -> None:
        """Give each client its task."""
        problem = self._problem
        for client, task in cycle.items():
            holder = problem.holder[task]
            self._held[self._owner[task]].remove(task)
            self._held[client].append(task)
            if client == holder:
                self._away[holder].remove(task)
            else:
                self._away.setdefault(holder, set()).add(task)
            self._owner[task], self._own_cost[task] = client, problem.cost(task, client)
        for client in cycle:
            self._held[client].sort()
        self._note_cheapest(cycle)

    def _note_cheapest(self, clients: Iterable[int]) -> None:
        own, surcharge = self._own_cost, self._problem.non_overlap_cost
        for client in clients:
            tasks = self._held[client]
            if tasks:  # without one there never is one: a client keeps its number of tasks
                for cheapest, costs in zip(self._cheapest, self._problem.rack_costs, strict=True):
                    growths = [costs[task] - own[task] for task in tasks]
                    growth = min(growths)
                    cheapest[client] = (growth + surcharge) * len(own) + tasks[growths.index(growth)]

    def next_cycle(self) -> dict[int, int] | None:
        """The task that each client of the next cycle receives, or ``None``."""
        distance = before = [0] * len(self._held)
        self._parent = [_FROM_START] * len(distance)
        # Kafka's sweeps: one for each node, source and sink included. The first one reaches the tasks only.
        left = len(self._owner) + len(distance) + 1
        seen: dict[tuple[int, ...], int] = {}
        repeated = False
        while left:
            before, distance = distance, self._swept(distance)
            if distance == before:
                return None
            left -= 1
            if not repeated:
                first = distance[0]
                known = seen.setdefault(tuple([value - first for value in distance]), left)
                if known != left:
                    left %= known - left
                    repeated = True
        return self._cycle_behind(self._last_client(before, distance))

    def _swept(self, distance: list[int]) -> list[int]:
        """Distances after one sweep. The lowest wins, among equals the first task."""
        now, owner, own = list(distance), self._owner, self._own_cost
        count = len(own)
        scaled = [value * count for value in distance]
        nearest = [min([scaled[client] + key for client, key in cheapest.items()]) for cheapest in self._cheapest]
        for client, rack in enumerate(self._problem.rack_of):
            key = nearest[rack]
            if client in self._away:
                costs = self._problem.rack_costs[rack]
                back = [(distance[owner[task]] - own[task] + costs[task]) * count + task for task in self._away[client]]
                key = min([key, *back])
            value, task = divmod(key, count)
            if value < now[client]:
                now[client] = value
                self._parent[client] = task
        return now

    def _last_client(self, before: list[int], distance: list[int]) -> int:
        """The client before the first node that one more sweep relaxes. Kafka's source is relaxed by tasks, too."""
        problem = self._problem
        source = min([before[client] - cost for client, cost in zip(self._owner, self._own_cost, strict=True)])
        for task, owner in enumerate(self._owner):
            value = distance[owner] - self._own_cost[task]
            if value < source:
                return owner
            for client, there in enumerate(distance):
                if client != owner and value + problem.cost(task, client) < there:
                    self._parent[client] = task
                    return client
        raise AssertionError("distances that fell in every sweep fall in one more")

    def _cycle_behind(self, client: int) -> dict[int, int]:
        seen: set[int] = set()
        while client not in seen:
            seen.add(client)
            client = self._owner[self._parent[client]]
        cycle: dict[int, int] = {}
        while client not in cycle:
            cycle[client] = self._parent[client]
            client = self._owner[cycle[client]]
        return cycle
