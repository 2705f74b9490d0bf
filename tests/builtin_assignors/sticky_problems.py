"""Random inputs of the sticky steps, with more collisions and odd sizes than in practice."""

from __future__ import annotations

import random
from collections.abc import Callable

from assignment_api.java import JdkGeneration
from builtin_assignors._sticky_steps import StickyProblem, client_map_order

#: Sizes at which Java's tables grow, and some in between.
_CLIENTS = [1, 2, 3, 4, 7, 12, 13, 14, 20, 26]
_TASKS = [0, 1, 2, 5, 12, 24, 30, 60]


def sticky_problem(seed: int) -> StickyProblem:
    dice = random.Random(seed)
    clients, tasks = dice.choice(_CLIENTS), dice.choice(_TASKS)
    gone = dice.randrange(4)
    task_hash = dice.choice(_task_hashes(dice))
    task_hashes = [task_hash(task) for task in range(tasks + gone)]
    existing = dice.sample(range(tasks + gone), tasks)
    client_hash = dice.choice(_client_hashes(dice))
    client_hashes = [client_hash(client) for client in range(clients)]
    ranks = dice.sample(range(clients), clients)
    order = client_map_order(range(clients), client_hashes, ranks.__getitem__)
    previous_active, previous_standby = _previous(dice, clients, tasks + gone)
    return StickyProblem(
        task_hashes=task_hashes,
        tasks=existing,
        stateful_tasks=[task for task in existing if dice.random() < 0.8],
        capacities=dice.choice(_capacities(dice, clients)),
        client_hashes=[client_hashes[place] for place in order],
        client_ranks=[ranks[place] for place in order],
        previous_active=previous_active,
        previous_standby=previous_standby,
        num_standbys=dice.choice([-1, 0, 1, 1, 2, 3, 20]),
        jdk=dice.choice(list(JdkGeneration)),
    )


def _task_hashes(dice: random.Random) -> list[Callable[[int], int]]:
    return [
        lambda task: 29791 + 31 * task,
        lambda _: dice.randrange(-(2**31), 2**31),
        lambda _: 29791 + 961 * dice.randrange(30) + 31 * dice.randrange(5),
        lambda _: dice.randrange(3) * 4096,
    ]


def _client_hashes(dice: random.Random) -> list[Callable[[int], int]]:
    return [
        lambda client: client,
        lambda _: dice.randrange(-(2**31), 2**31),
        lambda _: dice.randrange(3) * 1024,
        lambda _: 5,
    ]


def _capacities(dice: random.Random, clients: int) -> list[list[int]]:
    return [
        [1] * clients,
        [4] * clients,
        [dice.randrange(1, 5) for _ in range(clients)],
        [dice.randrange(0, 3) for _ in range(clients)],
    ]


def _previous(dice: random.Random, clients: int, tasks: int) -> tuple[list[list[int]], list[list[int]]]:
    active: list[list[int]] = [[] for _ in range(clients)]
    standby: list[list[int]] = [[] for _ in range(clients)]
    if dice.random() < 0.2:
        return active, standby
    present = [client for client in range(clients) if dice.random() < 0.8] or [0]
    for task in range(tasks):
        for _ in range(dice.choice([0, 1, 1, 1, 1, 1, 1, 2])):
            client = dice.choice(present)
            if task not in active[client]:
                active[client].append(task)
        for _ in range(dice.choice([0, 0, 1, 1, 2, 12])):
            client = dice.choice(present)
            if task not in active[client] and task not in standby[client]:
                standby[client].append(task)
    return active, standby
