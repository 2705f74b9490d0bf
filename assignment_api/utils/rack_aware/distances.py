"""Bellman-Ford distances on the layers of the graph: ordinary sweeps, and the last one, which finds the cycle.

Nodes in Kafka's order: source, tasks, clients of each group ("places": group x clients + client), with a second stage
the clients themselves, sink. Source and sink can be on no cycle, but the source can be the node that the last sweep
hits, so its distance is kept.
"""

from __future__ import annotations

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
        "client",
        "client_parent",
        "extra_places",
        "flow",
        "place",
        "place_parent",
        "source",
        "task",
        "task_relaxed",
    )

    def __init__(self, flow: Flow) -> None:
        clients, tasks = len(flow.problem.rack_of), len(flow.owner)
        self.flow = flow
        self.task = [0] * tasks
        self.task_relaxed = [False] * tasks
        self.place = [0] * len(flow.held)
        self.place_parent = [FROM_START] * len(flow.held)
        self.client = [0] * (clients if flow.second_stage is not None else 0)
        self.client_parent = [FROM_START] * len(self.client)
        self.source = 0
        self._changed_tasks: set[int] = set(range(tasks))
        self._changed_places: set[int] = set(range(len(flow.held)))
        self._changed_clients: set[int] = set()
        #: Place of the first holder of each task that it has left: there it costs less than its rack says; else -1.
        self.extra_places = [
            -1 if flow.owner[task] == holder else flow.problem.group_of[task] * clients + holder
            for task, holder in enumerate(flow.problem.holder)
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
        self._changed_tasks = set(range(len(self.task)))
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
        changed = sorted(self._changed_tasks)
        self._changed_tasks = set()
        group_of = self.flow.problem.group_of
        start = 0
        while start < len(changed):
            group = group_of[changed[start]]
            end = start + 1
            while end < len(changed) and group_of[changed[end]] == group:
                end += 1
            self._relax_places(group, changed[start:end])
            start = end

    def _relax_places(self, group: int, tasks: list[int]) -> None:
        """The places of a group, from its changed tasks: the lowest distance wins, among equals the first task."""
        problem, place, parent = self.flow.problem, self.place, self.place_parent
        distance, surcharge = self.task, problem.non_overlap_cost
        best: list[tuple[int, int]] = []
        for costs in problem.rack_costs:
            values = [distance[task] + costs[task] for task in tasks]
            lowest = min(values)
            best.append((lowest + surcharge, tasks[values.index(lowest)]))
        base = group * len(problem.rack_of)
        changed = self._changed_places
        relaxed_now: set[int] = set()
        for index, rack in enumerate(problem.rack_of, base):
            value, task = best[rack]
            if value < place[index]:
                place[index] = value
                parent[index] = task
                relaxed_now.add(index)
        extra_places = self.extra_places
        for task in tasks:
            index = extra_places[task]
            if index < 0:
                continue
            value = distance[task] + problem.rack_costs[problem.rack_of[index - base]][task]
            if value < place[index] or (value == place[index] and index in relaxed_now and task < parent[index]):
                place[index] = value
                parent[index] = task
                relaxed_now.add(index)
        changed |= relaxed_now

    def _scan_places(self) -> bool:
        flow = self.flow
        problem, distance, second_stage = flow.problem, self.task, flow.second_stage
        clients, holder, surcharge = len(problem.rack_of), problem.holder, problem.non_overlap_cost
        scanned = sorted(self._changed_places)
        self._changed_places = set()
        relaxed = False
        for index in scanned:
            value = self.place[index]
            group, client = divmod(index, clients)
            costs = problem.rack_costs[problem.rack_of[client]]
            for task in flow.held[index]:
                reached = value - costs[task] if holder[task] == client else value - costs[task] - surcharge
                if reached < distance[task]:
                    distance[task] = reached
                    self.task_relaxed[task] = True
                    self._changed_tasks.add(task)
                    relaxed = True
            if (
                second_stage is not None
                and value < self.client[client]
                and len(flow.held[index]) < second_stage[group][client]
            ):
                self.client[client] = value
                self.client_parent[client] = group
                self._changed_clients.add(client)
                relaxed = True
        return relaxed

    def _scan_clients(self) -> bool:
        clients, held, place = len(self.flow.problem.rack_of), self.flow.held, self.place
        relaxed = False
        for client in sorted(self._changed_clients):
            value = self.client[client]
            for index in range(client, len(place), clients):
                if held[index] and value < place[index]:
                    place[index] = value
                    self.place_parent[index] = FROM_CLIENT
                    self._changed_places.add(index)
                    relaxed = True
        self._changed_clients = set()
        return relaxed

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
