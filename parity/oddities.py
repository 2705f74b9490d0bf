"""Oddities of a drawn group: corners of Kafka's behaviour that real groups hardly meet."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from random import Random

import attrs

from assignment_api.java import spread

__all__ = [
    "PLAIN",
    "Oddities",
    "colliding_process_ids",
    "colliding_task_numbers",
    "draw_oddities",
    "odd_cost",
]

#: One in this many Streams groups is odd.
_RARITY = 3
#: Distance of partitions with tasks that collide with those of neighbouring sub-topologies (hash multiplier).
_COLLISION = 31
#: Slots of the smallest hash table with trees.
_TREE_SLOTS = 64
_INT_LIMIT = 2**31


@attrs.frozen
class Oddities:
    """Unusual properties of a drawn group.

    Args:
        processes_collide: Clients share a slot of a hash table, beyond a plain slot's size.
        tasks_collide: The same for tasks, with few clients.
        costs_overflow: Rack costs are huge or negative.
        is_untidy: Roles contradict each other, tasks are listed twice, clients or tasks are unknown.
        has_many_standbys: Nearly all clients had a copy of a task.
    """

    processes_collide: bool = False
    tasks_collide: bool = False
    costs_overflow: bool = False
    is_untidy: bool = False
    has_many_standbys: bool = False


PLAIN = Oddities()


def draw_oddities(chance: Random) -> Oddities:
    """Mostly none; an odd group has one or more."""
    if chance.randrange(_RARITY):
        return PLAIN
    flags = [chance.random() < 0.35 for _ in attrs.fields(Oddities)]
    flags[chance.randrange(len(flags))] = True
    return Oddities(*flags)


# --- costs ----------------------------------------------------------------------------------------

_HUGE = (10**8, 5 * 10**8, 10**9, 2**30 - 1, 2**30, 2**30 + 5, 715_827_883, 2**31 - 1)
#: One, or twice one, is the lowest integer, its own negative: Kafka may then search forever.
_LOWEST = (-(2**31), 2**30, -(2**30))


def odd_cost(chance: Random) -> int:
    """Sums are negative or overflow; one in a hundred may make Kafka's search endless."""
    style = chance.random()
    if style < 0.01:
        return chance.choice(_LOWEST)
    if style < 0.5:
        return chance.choice([cost for cost in _HUGE if cost not in _LOWEST])
    if style < 0.75:
        return -chance.choice((1, 2, 10, 10**6, 10**9, 2**31 - 1))
    if style < 0.9:
        return chance.randrange(-_INT_LIMIT + 1, _INT_LIMIT)
    return chance.choice((0, 1, 10))


# --- colliding ids --------------------------------------------------------------------------------


def colliding_process_ids(chance: Random, number: int) -> list[uuid.UUID]:
    """Most share a slot, some have equal hash codes."""
    code = chance.getrandbits(32)
    of_one_hash = chance.choice((0.0, 0.5, 0.9, 1.0))
    elsewhere = chance.choice((0.0, 0.1, 0.5))
    ids: dict[uuid.UUID, None] = {}
    while len(ids) < number:
        wanted = code if chance.random() < of_one_hash else _of_one_slot(chance, code)
        if chance.random() < elsewhere:
            wanted = chance.getrandbits(32)
        ids[_id_of_hash(chance, wanted)] = None
    return list(ids)


def _of_one_slot(chance: Random, code: int) -> int:
    """A hash code in the slot of ``code``, in tables of up to 64 slots."""
    upper = chance.getrandbits(26) << 6
    return upper | ((spread(code) ^ spread(upper)) & (_TREE_SLOTS - 1))


def _id_of_hash(chance: Random, code: int) -> uuid.UUID:
    upper = chance.getrandbits(32)
    halves = upper << 32 | (upper ^ code)
    first = chance.choice((0, chance.getrandbits(64), chance.getrandbits(64)))
    return uuid.UUID(int=first << 64 | (first ^ halves))


def colliding_task_numbers(chance: Random, wanted: int) -> list[tuple[int, list[int]]]:
    """Sub-topologies with partitions, about ``wanted`` tasks, most in few slots."""
    draw: Callable[[Random, int], dict[int, set[int]]] = chance.choice((_of_equal_hash, _of_equal_hash, _beyond_64))
    found = draw(chance, wanted)
    if chance.random() < 0.3:
        found.setdefault(chance.choice((0, 1, 64, 100)), set()).update(range(chance.randint(1, 6)))
    numbers = [(subtopology, sorted(partitions)) for subtopology, partitions in found.items()]
    if chance.random() < 0.5:
        chance.shuffle(numbers)
    return numbers


def _of_equal_hash(chance: Random, wanted: int) -> dict[int, set[int]]:
    """(g, p + 31) and (g + 1, p) have one hash code; partitions that are 64 apart share a slot."""
    levels = chance.choice((12, 24, 40, chance.randint(9, 50)))
    first = chance.choice((0, 0, 2, 60, 64, 1_000, 70_000, _INT_LIMIT - 50, -20))
    rests = range(max(1, wanted // levels))
    apart = chance.choice((1, 1, 2, _TREE_SLOTS))
    gaps = {level for level in range(levels) if chance.random() < 0.1}
    return {
        first + level: {_COLLISION * (levels - 1 - level) + apart * rest for rest in rests}
        for level in range(levels)
        if level not in gaps
    }


def _beyond_64(chance: Random, wanted: int) -> dict[int, set[int]]:
    """More sub-topologies than the slots of a table with trees; many share one slot."""
    first = chance.choice((0, 30, 64, 65, 127, 1_000))
    step = chance.choice((1, 1, 2, 32, _TREE_SLOTS))
    partitions = chance.choice(((0,), (0, 1), (0, _TREE_SLOTS), (0, 31, 62)))
    return {first + step * number: set(partitions) for number in range(max(1, wanted // len(partitions)))}
