"""Bellman-Ford distances on the layers of the graph: ordinary sweeps, and the last one, which finds the cycle.

Nodes in Kafka's order: source, tasks, clients of each group ("places": group x clients + client), with a second stage
the clients themselves, sink. Source and sink can be on no cycle, but the source can be the node that the last sweep
hits, so its distance is kept.
"""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assignment_api.utils.rack_aware.cycle_canceling import Flow

__all__ = ["FROM_CLIENT", "Distances"]

#: Parent of a node that nothing has relaxed yet.
FROM_START = -1
#: Parent of a place that was relaxed from its client in the second stage.
FROM_CLIENT = -2


class Distances:
    """Distances, parents, and which nodes changed since they were last scanned.

    Args:
        flow: The placement; it must not change while the distances are in use.
    """

    __slots__ = (
        "_changed_clients",
        "_changed_places",
        "_changed_tasks",
        "_extras",
        "_occupied",
        "_spare",
        "client",
        "client_parent",
        "extra_places",
        "flow",
        "place",
        "place_parent",
        "source",
        "task",
    )

    def __init__(self, flow: Flow) -> None:
        clients, tasks = len(flow.problem.rack_of), len(flow.owner)
        self.flow = flow
        self.task = [0] * tasks
        self.place = [0] * len(flow.held)
        self.place_parent = [FROM_START] * len(flow.held)
        self.client = [0] * (clients if flow.second_stage is not None else 0)
        self.client_parent = [FROM_START] * len(self.client)
        self.source = 0
        #: No task twice: only its owner's place relaxes it.
        self._changed_tasks: list[int] = list(range(tasks))
        self._changed_places: set[int] = set(range(len(flow.held)))
        self._changed_clients: set[int] = set()
        #: Place of the first holder of each task that it has left: there it costs less than its rack says; else -1.
        self.extra_places = [
            -1 if flow.owner[task] == holder else flow.problem.group_of[task] * clients + holder
            for task, holder in enumerate(flow.problem.holder)
        ]
        #: The same by group, with the cost there: (task, place, cost).
        self._extras: list[list[tuple[int, int, int]]] = [[] for _ in flow.spans]
        for task, place in enumerate(self.extra_places):
            if place >= 0:
                cost = flow.problem.cost(task, place % clients)
                self._extras[flow.problem.group_of[task]].append((task, place, cost))
        #: Whether one more task of the group fits between a place and its client.
        self._spare = [False] * len(flow.held)
        if flow.second_stage is not None:
            most = [capacity for capacities in flow.second_stage for capacity in capacities]
            self._spare = [len(held) < capacity for held, capacity in zip(flow.held, most, strict=True)]
        #: Places of each client that hold something.
        self._occupied = [
            [place for place in range(client, len(flow.held), clients) if flow.held[place]] for client in range(clients)
        ]

    def snapshot(self) -> list[int]:
        """All distances in one list: tasks, places, clients."""
        return [*self.task, *self.place, *self.client]

    def fall(self, gains: list[int], periods: int) -> None:
        """Adds ``periods`` times ``gains`` (shaped like a snapshot) to all distances."""
        tasks, places = len(self.task), len(self.place)
        self.task = [value + periods * gain for value, gain in zip(self.task, gains, strict=False)]
        self.place = [value + periods * gain for value, gain in zip(self.place, gains[tasks:], strict=False)]
        self.client = [value + periods * gain for value, gain in zip(self.client, gains[tasks + places :], strict=True)]
        self.mark_all()

    def mark_all(self) -> None:
        """Every node counts as changed."""
        self._changed_tasks = list(range(len(self.task)))
        self._changed_places = set(range(len(self.place)))
        self._changed_clients = set(range(len(self.client)))

    def note_source(self) -> None:
        """Before a sweep: what the source's distance will be after it."""
        self.source = min(self.task, default=0)

    # --- an ordinary sweep ------------------------------------------------------------------------

    def sweep(self) -> bool:
        """One sweep over all nodes; answers whether it relaxed anything but the source."""
        self._scan_tasks()
        relaxed = self._scan_places()
        if self.client:
            relaxed = self._scan_clients() or relaxed
        return relaxed or bool(self._changed_tasks)

    def _scan_tasks(self) -> None:
        groups = sorted(set(map(self.flow.problem.group_of.__getitem__, self._changed_tasks)))
        self._changed_tasks = []
        for group in groups:
            self._relax_places(group)

    def _relax_places(self, group: int) -> None:
        """The places of a group: the lowest distance wins, among equals the first task.

        Tasks that did not change take part, because whole slices are fast: they relax nobody.
        """
        flow, place, parent = self.flow, self.place, self.place_parent
        rack_of, surcharge = flow.problem.rack_of, flow.problem.non_overlap_cost
        first, end = flow.spans[group]
        distances = self.task[first:end]
        lowest: list[int] = []
        nearest: list[int] = []
        for costs in flow.span_costs[group]:
            values = list(map(add, distances, costs))
            value = min(values)
            lowest.append(value + surcharge)
            nearest.append(first + values.index(value))
        base = group * len(rack_of)
        relaxed_now: set[int] = set()
        for index, rack in enumerate(rack_of, base):
            value = lowest[rack]
            if value < place[index]:
                place[index] = value
                parent[index] = nearest[rack]
                relaxed_now.add(index)
        for task, index, cost in self._extras[group]:
            value = self.task[task] + cost
            if value < place[index] or (value == place[index] and index in relaxed_now and task < parent[index]):
                place[index] = value
                parent[index] = task
                relaxed_now.add(index)
        self._changed_places |= relaxed_now

    def _scan_places(self) -> bool:
        distance, place = self.task, self.place
        held_costs, spare = self.flow.held_costs, self._spare
        clients = len(self.flow.problem.rack_of)
        scanned = sorted(self._changed_places)
        self._changed_places = set()
        changed = self._changed_tasks
        relaxed_client = False
        for index in scanned:
            value = place[index]
            for task, cost in held_costs[index]:
                reached = value - cost
                if reached < distance[task]:
                    distance[task] = reached
                    changed.append(task)
            if spare[index] and value < self.client[index % clients]:
                group, client = divmod(index, clients)
                self.client[client] = value
                self.client_parent[client] = group
                self._changed_clients.add(client)
                relaxed_client = True
        return relaxed_client or bool(changed)

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
        """The cycle behind the first relaxation of one more sweep, as moves (task, new client)."""
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
        return ("task", index)  # the source stands for the task that it was reached from

    def _first_hit(self) -> tuple[str, int] | None:
        return self._hit_from_tasks() or self._hit_from_places() or self._hit_from_clients()

    def _hit_from_tasks(self) -> tuple[str, int] | None:
        flow = self.flow
        clients = len(flow.problem.rack_of)
        for task in sorted(self._changed_tasks):
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
            if (
                second_stage is not None
                and value < self.client[client]
                and len(flow.held[index]) < second_stage[group][client]
            ):
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
