"""Bellman-Ford distances on the layers of the graph.

Nodes in Kafka's order: source, tasks, clients of each group ("places": group x clients + client), clients, sink.
Source and sink are on no cycle. But the last sweep can relax the source, so its distance is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add, sub

from assignment_api.utils.rack_aware.flow import UnfinishedFlow

__all__ = ["FROM_CLIENT", "Distances"]

FROM_START = -1
#: Parent of a place relaxed from its client in the second stage.
FROM_CLIENT = -2


class Distances:
    """Distances, parents, and nodes changed since their last scan; ``flow`` must not change meanwhile."""

    __slots__ = (
        "_before",
        "_changed_clients",
        "_changed_groups",
        "_changed_places",
        "_changed_tasks",
        "_occupied",
        "_own_cost",
        "_own_place",
        "_spare",
        "client",
        "client_parent",
        "extras",
        "flow",
        "place",
        "place_parent",
        "source",
        "task",
    )

    def __init__(self, flow: UnfinishedFlow) -> None:
        clients, tasks = len(flow.problem.rack_of), len(flow.owner)
        self.flow = flow
        self.task = [0] * tasks
        self.place = [0] * len(flow.held)
        self.place_parent = [FROM_START] * len(flow.held)
        self.client = [0] * clients
        self.client_parent = [FROM_START] * len(self.client)
        self.source = 0
        #: Once each: only its owner's place relaxes it.
        self._changed_tasks: Iterable[int] = range(tasks)
        self._before: list[int] | None = None
        self._changed_groups: Sequence[int] = range(len(flow.spans))
        self._changed_places: set[int] = set(range(len(flow.held)))
        self._changed_clients: set[int] = set()
        #: Tasks of each group away from their first holder, cheaper there than its rack implies: (task, holder's place,
        #: cost).
        self.extras: list[list[tuple[int, int, int]]] = [[] for _ in flow.spans]
        for task, holder in enumerate(flow.problem.holder):
            if flow.owner[task] != holder:
                group = flow.problem.group_of[task]
                self.extras[group].append((task, group * clients + holder, flow.problem.cost(task, holder)))
        most = [capacity for capacities in flow.second_stage for capacity in capacities]
        self._spare = [
            (place, place % clients)
            for place, (held, capacity) in enumerate(zip(flow.held, most, strict=True))
            if len(held) < capacity
        ]
        self._own_place, self._own_cost = [0] * tasks, [0] * tasks
        for place, held_there in enumerate(flow.held_costs):
            for task, cost in held_there:
                self._own_place[task], self._own_cost[task] = place, cost
        self._occupied = [
            [place for place in range(client, len(flow.held), clients) if flow.held[place]] for client in range(clients)
        ]

    def snapshot(self) -> list[int]:
        """All distances: tasks, places, clients."""
        return [*self.task, *self.place, *self.client]

    def fall(self, gains: list[int], periods: int) -> None:
        """Add ``periods`` times ``gains`` (as a snapshot) to all distances."""
        tasks, places = len(self.task), len(self.place)
        self.task = [value + periods * gain for value, gain in zip(self.task, gains, strict=False)]
        self.place = [value + periods * gain for value, gain in zip(self.place, gains[tasks:], strict=False)]
        self.client = [value + periods * gain for value, gain in zip(self.client, gains[tasks + places :], strict=True)]
        self.mark_all()

    def mark_all(self) -> None:
        """Mark every node as changed."""
        self._before, self._changed_tasks = None, range(len(self.task))
        self._changed_groups = range(len(self.flow.spans))
        self._changed_places = set(range(len(self.place)))
        self._changed_clients = set(range(len(self.client)))

    def note_source(self) -> None:
        """Before a sweep: the source's distance after it."""
        self.source = min(self.task, default=0)

    # --- an ordinary sweep ------------------------------------------------------------------------

    def sweep(self) -> bool:
        """Sweep all nodes; True if any except the source was relaxed."""
        for group in self._changed_groups:
            self._relax_places(group)
        relaxed = self._scan_places()
        return self._scan_clients() or relaxed

    def _relax_places(self, group: int) -> None:
        """The lowest distance wins, among equals the first task.

        Unchanged tasks take part (they relax no place): whole slices are fast.
        """
        flow, place, parent = self.flow, self.place, self.place_parent
        surcharge = flow.problem.non_overlap_cost
        first, end = flow.spans[group]
        distances = self.task[first:end]
        lowest: list[int] = []
        nearest: list[int] = []
        for costs in flow.span_costs[group]:
            values = list(map(add, distances, costs))
            value = min(values)
            lowest.append(value + surcharge)
            nearest.append(first + values.index(value))
        relaxed_now: list[int] = []
        for value, task, places in zip(lowest, nearest, flow.places_by_rack[group], strict=True):
            for index in places:
                if value < place[index]:
                    place[index] = value
                    parent[index] = task
                    relaxed_now.append(index)
        for task, index, cost in self.extras[group]:
            value = self.task[task] + cost
            if value < place[index] or (value == place[index] and index in relaxed_now and task < parent[index]):
                place[index] = value
                parent[index] = task
                relaxed_now.append(index)
        self._changed_places.update(relaxed_now)

    def _scan_places(self) -> bool:
        place = self.place
        scanned = self._changed_places
        self._changed_places = set()
        if 3 * len(scanned) < len(place):
            self._reach_tasks_of(scanned)
        else:
            self._reach_all_tasks()
        relaxed = bool(self._changed_groups)
        for index, client in self._spare:
            value = place[index]
            if value < self.client[client]:
                self.client[client] = value
                self.client_parent[client] = index // len(self.client)
                self._changed_clients.add(client)
                relaxed = True
        return relaxed

    def _reach_tasks_of(self, places: set[int]) -> None:
        distance, changed = self.task, []
        for index in places:
            value = self.place[index]
            for task, cost in self.flow.held_costs[index]:
                if value - cost < distance[task]:
                    distance[task] = value - cost
                    changed.append(task)
        self._before, self._changed_tasks = None, changed
        self._changed_groups = sorted(set(map(self.flow.problem.group_of.__getitem__, changed)))

    def _reach_all_tasks(self) -> None:
        """All places: a task's only incoming edge keeps its distance from falling below the result."""
        before = self._before = self.task
        now = self.task = list(map(sub, map(self.place.__getitem__, self._own_place), self._own_cost))
        self._changed_groups = [
            group for group, (first, end) in enumerate(self.flow.spans) if now[first:end] != before[first:end]
        ]

    def _tasks_to_scan(self) -> list[int]:
        if self._before is None:
            return sorted(self._changed_tasks)
        pairs = enumerate(zip(self.task, self._before, strict=True))
        return [task for task, (now, before) in pairs if now != before]

    def _scan_clients(self) -> bool:
        place, parent = self.place, self.place_parent
        changed = self._changed_places
        for client in sorted(self._changed_clients):
            value = self.client[client]
            for index in self._occupied[client]:
                if value < place[index]:
                    place[index] = value
                    parent[index] = FROM_CLIENT
                    changed.add(index)
        self._changed_clients = set()
        return bool(changed)

    # --- the last sweep ---------------------------------------------------------------------------

    def last_sweep(self) -> list[tuple[int, int]] | None:
        """Moves (task, new client) of the cycle behind the first relaxation of one more sweep."""
        hit = self._first_hit()
        if hit is None:
            return None
        seen: set[tuple[str, int]] = set()
        node = hit
        while node not in seen:
            seen.add(node)
            node = self._parent(node)
        moves = []
        first = node
        while True:
            parent = self._parent(node)
            if node[0] == "place" and parent[0] == "task":
                moves.append((parent[1], node[1] % len(self.flow.problem.rack_of)))
            node = parent
            if node == first:
                return moves

    def _parent(self, node: tuple[str, int]) -> tuple[str, int]:
        kind, index = node
        clients = len(self.flow.problem.rack_of)
        if kind == "task":
            return ("place", self.flow.problem.group_of[index] * clients + self.flow.owner[index])
        if kind == "place":
            parent = self.place_parent[index]
            return ("client", index % clients) if parent == FROM_CLIENT else ("task", parent)
        if kind == "client":
            return ("place", self.client_parent[index] * clients + index)
        return ("task", index)  # the source stands for the task that relaxed it

    def _first_hit(self) -> tuple[str, int] | None:
        return self._hit_from_tasks() or self._hit_from_places() or self._hit_from_clients()

    def _hit_from_tasks(self) -> tuple[str, int] | None:
        flow = self.flow
        clients = len(flow.problem.rack_of)
        for task in self._tasks_to_scan():
            value = self.task[task]
            if value < self.source:
                return ("source", task)
            base = flow.problem.group_of[task] * clients
            for client in range(clients):
                reached = value + flow.problem.cost(task, client)
                if reached < self.place[base + client] and flow.owner[task] != client:
                    self.place_parent[base + client] = task
                    return ("place", base + client)
        return None

    def _hit_from_places(self) -> tuple[str, int] | None:
        flow = self.flow
        clients, second_stage = len(flow.problem.rack_of), flow.second_stage
        for index in sorted(self._changed_places):
            value = self.place[index]
            group, client = divmod(index, clients)
            for task in flow.held[index]:
                if value - flow.problem.cost(task, client) < self.task[task]:
                    return ("task", task)
            if value < self.client[client] and len(flow.held[index]) < second_stage[group][client]:
                self.client_parent[client] = group
                return ("client", client)
        return None

    def _hit_from_clients(self) -> tuple[str, int] | None:
        clients = len(self.flow.problem.rack_of)
        for client in sorted(self._changed_clients):
            for index in range(client, len(self.place), clients):
                if self.flow.held[index] and self.client[client] < self.place[index]:
                    self.place_parent[index] = FROM_CLIENT
                    return ("place", index)
        return None
