"""The queue of clients gives the answers of the heap that it replaces."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from assignment_api.java.priority_queue import JavaPriorityQueue
from builtin_assignors.high_availability.client_queue import ClientQueue


class PlayedQueue:
    def __init__(self, counts: Sequence[int], capacities: Sequence[int]) -> None:
        self.counts = list(counts)
        self.heap: JavaPriorityQueue[int] = JavaPriorityQueue(
            key=lambda client: (self.counts[client] / capacities[client], client)
        )
        for client in range(len(counts)):
            self.heap.offer(client)

    def poll(self, eligible: Sequence[int]) -> int | None:
        skipped: list[int] = []
        found = None
        while (client := self.heap.poll()) is not None:
            if client in eligible:
                found = client
                break
            skipped.append(client)
        for client in in_hash_order(skipped):
            self.heap.offer(client)
        return found

    def replace(self, source: int, destination: int, *, gained: int, lost: int) -> None:
        self.counts[source] += gained
        self.counts[destination] -= lost
        for client in (source, destination):
            self.heap.remove(client)
            self.heap.offer(client)


def in_hash_order(clients: Sequence[int]) -> Sequence[int]:
    """An order with collisions: a stable sort by a small hash, as in a hash set of few clients."""
    return sorted(clients, key=lambda client: client * 7 % 4)


@pytest.mark.slow
@pytest.mark.parametrize("capacity", [1, 2, 4])
def test_every_poll_finds_the_client_that_the_played_heap_finds(capacity: int) -> None:
    """Many movements, because few of them put a heap out of order, and fewer answers show it."""
    for seed in range(1_500):
        dice = random.Random(seed)
        size = dice.randint(2, 14)
        counts = [dice.randint(0, 4) for _ in range(size)]
        capacities = [dice.randint(1, capacity) for _ in range(size)]
        queue = ClientQueue(counts, capacities, in_hash_order)
        played = PlayedQueue(counts, capacities)
        for _ in range(20):
            _one_movement(dice, size, queue, played)


def _one_movement(dice: random.Random, size: int, queue: ClientQueue, played: PlayedQueue) -> None:
    destination, *others = dice.sample(range(size), size)
    eligible = others[: dice.choice([0, 1, 2, 3, size])]
    source = queue.poll(eligible)
    assert source == played.poll(eligible)
    polled = source is not None
    if source is None:
        source = others[0]
    gained = dice.choice([0, 1, 1, 1])
    lost = dice.choice([0, 1, 1]) if gained and played.counts[destination] else 0
    queue.replace(source, destination, gained=gained, lost=lost, polled=polled)
    played.replace(source, destination, gained=gained, lost=lost)
