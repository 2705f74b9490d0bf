"""Random applications: sub-topologies with their tasks, partitions and racks.

Includes all oddities of real applications, and some rare ones: tasks with ids that collide in every hash table,
partitions of two sub-topologies, source topics as changelogs, stores without a changelog, named topologies, brokers
without racks.
"""

from __future__ import annotations

from random import Random
from typing import Any

import attrs

from parity.oddities import PLAIN, Oddities, colliding_task_numbers

__all__ = ["Application", "draw_application"]

#: Distance of partitions with tasks that collide with those of neighbouring sub-topologies (hash multiplier).
_COLLISION = 31


@attrs.frozen
class Application:
    """The application of a group.

    Args:
        tasks: Task documents, in insertion order.
        racks: All racks of the cluster.
        tags: Possible keys of client tags.
        named: The application's topologies; empty if they are unnamed.
    """

    tasks: list[dict[str, Any]]
    racks: list[str]
    tags: list[str]
    named: list[str]

    def ids(self) -> list[str]:
        """Task ids."""
        return [task["id"] for task in self.tasks]

    def logged(self) -> list[str]:
        """Ids of tasks with logged state."""
        return [task["id"] for task in self.tasks if task["logged"]]

    def lost_task(self, chance: Random) -> str:
        """A task that is no longer part of the application."""
        plain = f"{chance.randrange(40, 50)}_{chance.randrange(4)}"
        return f"{chance.choice(self.named)}__{plain}" if self.named else plain


def draw_application(chance: Random, most_tasks: int, oddities: Oddities = PLAIN) -> Application:
    """About ``most_tasks`` tasks at most, seldom none."""
    racks = [f"rack-{number}" for number in range(chance.choice((1, 2, 3, 3, 4, 5)))]
    named = _names(chance, oddities) if chance.random() < 0.1 else []
    cluster = _Cluster(chance, racks, chance.choice((0.0,) * 6 + (0.02, 0.3)))
    tasks: list[dict[str, Any]] = []
    if chance.random() > 0.01:
        wanted = chance.randint(1, most_tasks)
        draw = colliding_task_numbers if oddities.tasks_collide else _partition_numbers
        for subtopology, partitions in draw(chance, wanted):
            name = f"{chance.choice(named)}__" if named else ""
            tasks += _tasks_of(chance, cluster, f"{name}{subtopology}", subtopology, partitions)
    if chance.random() < 0.25:
        chance.shuffle(tasks)
    return Application(tasks, racks, ["zone", "cluster", "region", "arch"][: chance.randint(1, 4)], named)


def _names(chance: Random, oddities: Oddities) -> list[str]:
    if oddities.tasks_collide:
        return chance.sample(("AaAa", "BBBB", "AaBB", "BBAa", "\uff5e", "\U0001f600"), chance.randint(1, 4))
    return [f"topology{letter}" for letter in "AB"[: chance.randint(1, 2)]]


def _partition_numbers(chance: Random, wanted: int) -> list[tuple[int, list[int]]]:
    """Sub-topologies with partitions: ``wanted`` tasks in all."""
    style = chance.random()
    if style < 0.08:
        return _colliding(chance, wanted)
    numbers: list[tuple[int, list[int]]] = []
    left = wanted
    subtopology = 0
    while left > 0:
        size = min(left, chance.choice((1, 2, 3, 4, 6, 8, 12, 24)))
        first = _COLLISION if style < 0.13 else 0
        numbers.append((subtopology, list(range(first, first + size))))
        left -= size
        subtopology += chance.choice((1, 1, 1, 2))
    return numbers


def _colliding(chance: Random, wanted: int) -> list[tuple[int, list[int]]]:
    """Ids of few hash codes: long chains, and trees from 64 slots on."""
    levels = chance.choice((2, 3, 6, 12, 16))
    rests = range(max(1, wanted // levels))
    return [(level, [_COLLISION * (levels - 1 - level) + rest for rest in rests]) for level in range(levels)]


class _Cluster:
    """Topics and racks of their partitions, drawn once for all tasks."""

    def __init__(self, chance: Random, racks: list[str], rackless: float) -> None:
        self._chance = chance
        self._racks = racks
        self._rackless = rackless
        self._replicas = chance.randint(1, min(3, len(racks)))
        self._partitions: dict[tuple[str, int], list[str] | None] = {}

    def partition(self, topic: str, number: int, *, source: bool, changelog: bool) -> dict[str, Any]:
        key = (topic, number)
        if key not in self._partitions:
            if self._chance.random() < self._rackless:
                self._partitions[key] = self._chance.choice((None, []))
            else:
                self._partitions[key] = self._chance.sample(self._racks, self._chance.randint(1, self._replicas))
        return {
            "topic": topic,
            "partition": number,
            "source": source,
            "changelog": changelog,
            "racks": self._partitions[key],
        }


def _tasks_of(
    chance: Random, cluster: _Cluster, prefix: str, subtopology: int, partitions: list[int]
) -> list[dict[str, Any]]:
    sources = [f"in-{subtopology}"]
    if chance.random() < 0.3:
        sources.append(f"in-{subtopology + 1}")
    if chance.random() < 0.1:
        sources.append("everybody-reads-this")
    stores = [f"store-{subtopology}-{number}" for number in range(chance.choice((0, 1, 1, 1, 2, 3)))]
    is_logged = bool(stores) and chance.random() < 0.92
    source_is_changelog = is_logged and chance.random() < 0.12
    tasks = []
    for number in partitions:
        held = [
            cluster.partition(topic, number, source=True, changelog=source_is_changelog and topic == sources[0])
            for topic in sources
        ]
        if is_logged:
            logs = stores[1:] if source_is_changelog else stores
            held += [
                cluster.partition(f"app-{store}-changelog", number, source=False, changelog=True) for store in logs
            ]
        tasks.append(
            {
                "id": f"{prefix}_{number}",
                "stateful": bool(stores),
                "logged": is_logged,
                "stores": stores,
                "partitions": held,
            }
        )
    return tasks
