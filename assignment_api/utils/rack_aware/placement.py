"""Optimal placements on Kafka's two graphs. Only groups with racks load the modules that cancel cycles."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import ceil

from assignment_api.errors import IllegalAssignmentStateError
from assignment_api.utils.rack_aware.flow_problem import FlowProblem

__all__ = ["balance_subtopology", "min_traffic"]

_SOURCE = -1


def min_traffic(problem: FlowProblem) -> list[int]:
    """Client of each task at the least traffic; clients keep their number of tasks.

    Kafka: ``MinTrafficGraphConstructor``. All tasks must be in group 0.
    """
    owner = list(problem.holder)
    if not problem.has_plain_costs():
        return _on_whole_graph(problem, owner)
    from assignment_api.utils.rack_aware.one_group import cancel_cycles

    cancel_cycles(problem, owner)
    return owner


def balance_subtopology(problem: FlowProblem, counts: Sequence[int]) -> list[int]:
    """Client of each task at the least traffic while each group is spread over the clients.

    Kafka: ``BalanceSubtopologyGraphConstructor``. Present owners affect only costs: a maximal flow is built first, then
    cycles are cancelled.

    Args:
        counts: Tasks of each client.

    Raises:
        IllegalAssignmentStateError: if the tasks cannot all be placed.
    """
    capacities = _second_stage(problem, counts)
    owner = _maximal_flow(problem, counts, capacities)
    if not problem.has_plain_costs():
        return _on_whole_graph(problem, owner, capacities)
    from assignment_api.utils.rack_aware.cycle_canceling import cancel_cycles
    from assignment_api.utils.rack_aware.flow import UnfinishedFlow

    flow = UnfinishedFlow(problem, owner, capacities)
    cancel_cycles(flow)
    return flow.owner


def _on_whole_graph(problem: FlowProblem, owner: Sequence[int], capacities: list[list[int]] | None = None) -> list[int]:
    from assignment_api.utils.rack_aware.whole_graph import cancel_all_cycles

    return cancel_all_cycles(problem, owner, capacities)


def _second_stage(problem: FlowProblem, counts: Sequence[int]) -> list[list[int]]:
    """A client's most tasks of each group: its share, rounded up, in Kafka's order of operations."""
    total = len(problem.group_of)
    sizes = [0] * problem.groups
    for group in problem.group_of:
        sizes[group] += 1
    return [[ceil(count * 1.0 / total * size) for count in counts] for size in sizes]


# --- the maximal flow -----------------------------------------------------------------------------


def _maximal_flow(problem: FlowProblem, counts: Sequence[int], capacities: Sequence[Sequence[int]]) -> list[int]:
    """Breadth-first augmentation, neighbours in ascending order (Kafka: ``Graph``).

    As long as some group has room in both stages, no search is needed: the shortest path is that of the first such
    group, its first unplaced task, and the first client with room.
    """
    clients = len(counts)
    owner = [-1] * len(problem.group_of)
    held = [[0] * clients for _ in capacities]
    room = list(counts)
    waiting: list[deque[int]] = [deque() for _ in capacities]
    for task, group in enumerate(problem.group_of):
        waiting[group].append(task)
    placed = 0
    while placed < len(owner):
        direct = _direct_path(waiting, held, capacities, room)
        if direct is not None:
            group, client = direct
            owner[waiting[group].popleft()] = client
            held[group][client] += 1
            room[client] -= 1
        else:
            last = _searched_path(problem, owner, held, capacities, room)
            if last is None:
                raise IllegalAssignmentStateError(
                    f"max flow calculated: {placed} does not match taskCount: {len(owner)}"
                )
            room[last] -= 1
            for tasks in waiting:
                while tasks and owner[tasks[0]] >= 0:
                    tasks.popleft()
        placed += 1
    return owner


def _direct_path(
    waiting: Sequence[deque[int]],
    held: Sequence[Sequence[int]],
    capacities: Sequence[Sequence[int]],
    room: Sequence[int],
) -> tuple[int, int] | None:
    for group, tasks in enumerate(waiting):
        if tasks:
            for client, free in enumerate(room):
                if free > 0 and held[group][client] < capacities[group][client]:
                    return group, client
    return None


def _searched_path(
    problem: FlowProblem,
    owner: list[int],
    held: list[list[int]],
    capacities: Sequence[Sequence[int]],
    room: Sequence[int],
) -> int | None:
    """Augment along a longer path; returns its last client, of which the caller updates the room."""
    clients, tasks = len(room), len(owner)
    places = len(held) * clients
    # Nodes: tasks, places (group x clients + client), clients.
    parent: dict[int, int] = {}
    queue: deque[int] = deque()
    for task, client in enumerate(owner):
        if client < 0:
            parent[task] = _SOURCE
            queue.append(task)
    tasks_at: dict[int, list[int]] = {}
    for task, client in enumerate(owner):
        if client >= 0:
            tasks_at.setdefault(problem.group_of[task] * clients + client, []).append(task)
    while queue:
        node = queue.popleft()
        if node < tasks:
            base = problem.group_of[node] * clients
            neighbours = [tasks + base + client for client in range(clients) if owner[node] != client]
        elif node < tasks + places:
            group, client = divmod(node - tasks, clients)
            neighbours = list(tasks_at.get(node - tasks, ()))
            if held[group][client] < capacities[group][client]:
                neighbours.append(tasks + places + client)
        else:
            client = node - tasks - places
            if room[client] > 0:
                # The sink is the client's last neighbour, but finding it ends the search.
                _augment(node, parent, owner, held, tasks, places, clients)
                return client
            neighbours = [
                tasks + index for index in range(client, places, clients) if held[index // clients][client] > 0
            ]
        for neighbour in neighbours:
            if neighbour not in parent:
                parent[neighbour] = node
                queue.append(neighbour)
    return None


def _augment(
    node: int, parent: dict[int, int], owner: list[int], held: list[list[int]], tasks: int, places: int, clients: int
) -> None:
    while (before := parent[node]) != _SOURCE:
        if before < tasks <= node:  # task -> place: its former place is on the path, too
            owner[before] = (node - tasks) % clients
        elif tasks <= before < tasks + places <= node:
            group, client = divmod(before - tasks, clients)
            held[group][client] += 1
        elif tasks <= node < tasks + places <= before:
            group, client = divmod(node - tasks, clients)
            held[group][client] -= 1
        node = before
