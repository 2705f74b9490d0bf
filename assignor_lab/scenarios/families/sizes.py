"""Sizes of generated groups: the documented distribution of the families by event (docs, "Generated groups")."""

from __future__ import annotations

from assignor_lab.scenarios.families.draws import Draws

__all__ = ["CLIENTS", "MAX_CLIENTS", "draw_clients", "draw_partitions", "draw_subtopologies", "work_with"]

#: Instances at the start, in 10,000 histories: median 8, above 200 in 2 of 10,000.
CLIENTS: tuple[tuple[int, tuple[int, int]], ...] = (
    (1_000, (1, 3)),
    (2_300, (4, 6)),
    (3_200, (7, 9)),
    (2_000, (10, 15)),
    (1_170, (16, 30)),
    (300, (31, 60)),
    (28, (61, 200)),
    (2, (201, 500)),
)
#: The limit of a group's instances, including joins.
MAX_CLIENTS = 500

_SUBTOPOLOGIES = ((35, 1), (30, 2), (20, 3), (8, 4), (5, 5), (2, 6))
_PARTITIONS = ((4, 1), (6, 3), (8, 4), (14, 6), (16, 8), (20, 12), (14, 16), (10, 24), (6, 32), (2, 64))
#: Groups of more clients have few sub-topologies, and one to two tasks for each client.
_LARGE_CLIENTS = 60


def draw_clients(draws: Draws) -> int:
    lowest, highest = draws.weighted(CLIENTS)
    return draws.between(lowest, highest)


def draw_subtopologies(draws: Draws, clients: int) -> int:
    number = draws.weighted(_SUBTOPOLOGIES)
    return min(number, 2) if clients > _LARGE_CLIENTS else number


def draw_partitions(draws: Draws, clients: int, subtopologies: int) -> int:
    """Number of tasks of one of the sub-topologies.

    Most topics have enough partitions for every instance: the number is doubled until there are two for each instance.
    In large groups it is doubled until there is one for each instance in all sub-topologies together.
    """
    partitions = draws.weighted(_PARTITIONS)
    wanted = -(-clients // subtopologies) if clients > _LARGE_CLIENTS else 2 * clients
    if draws.percent(80):
        while partitions < wanted:
            partitions *= 2
    return partitions


def work_with(clients: int) -> float:
    """Approximate work of a history with so many instances: instances times tasks."""
    return clients * (24.0 + 2.0 * clients)
