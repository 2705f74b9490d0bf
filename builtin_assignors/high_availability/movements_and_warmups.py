"""Movements and warm-ups: from the ideal placement to a possible one (KIP-441; Kafka: ``TaskMovement``).

If a task's ideal client is behind, the task stays on a caught-up client. The ideal client gets a warm-up replica, up to
``max.warmup.replicas``.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from builtin_assignors._steps_taken import SILENT
from builtin_assignors.high_availability.client_queue import ClientQueue, HashOrder
from builtin_assignors.high_availability.recovery import Recovery
from builtin_assignors.high_availability.tracing import HighAvailabilitySteps

__all__ = ["Movements"]


@attrs.define
class Movements:
    """Both phases of movement over one placement; they share the warm-ups.

    Args:
        warmups_left: ``max.warmup.replicas``. Kafka counts on below zero.
    """

    active: Sequence[set[int]]
    standby: Sequence[set[int]]
    capacities: Sequence[int]
    recovery: Recovery
    warmups_left: int
    hash_order: HashOrder
    steps: HighAvailabilitySteps = SILENT
    _warmups: dict[int, set[int]] = attrs.field(init=False, factory=dict)

    def move_actives(self) -> int:
        """Move each active task from a client that is behind to one that is caught up or least behind.

        Returns:
            Number of active tasks that had to move, with or without a warm-up.
        """
        recovery, standby = self.recovery, self.standby
        behind = [
            (len(recovery.caught_up(task)), task, client)
            for client, held in enumerate(self.active)
            for task in recovery.worth_moving(held, client)
        ]
        if not behind:
            return 0
        behind.sort()
        queue = self._queue()
        for _, task, destination in behind:
            caught_up = recovery.caught_up(task)
            source = queue.poll([client for client in caught_up if task in standby[client]])
            if source is None:
                source = queue.poll(caught_up)
            polled = source is not None
            if source is None:
                # A client is ahead of the destination, otherwise the task would not be worth moving.
                source = recovery.by_lag(task)[0]
            if task in standby[source]:
                self._swap(task, source, destination)
                self.steps.active_waits(task, source, destination, len(caught_up), None)
                queue.replace(source, destination, gained=0, lost=0, polled=polled)
            else:
                warmed = self._move(task, source, destination)
                self.steps.active_waits(task, source, destination, len(caught_up), self.warmups_left)
                queue.replace(source, destination, gained=1, lost=0 if warmed else 1, polled=polled)
        return len(behind)

    def move_standbys(self) -> int:
        """Move each standby, except warm-ups, from a client that is behind; call this second.

        Returns:
            Number of standbys that moved.
        """
        recovery, active, standby = self.recovery, self.active, self.standby
        behind = [
            (len(recovery.caught_up(task)), task, client)
            for client, held in enumerate(standby)
            for task in sorted(recovery.worth_moving(held, client))
            if task not in self._warmups.get(client, ())
        ]
        if not behind:
            return 0
        queue = self._queue()
        moved = 0
        for task, destination in _polled(behind):
            free = [
                client
                for client in recovery.caught_up(task)
                if task not in active[client] and task not in standby[client]
            ]
            source = queue.poll(free)
            polled = source is not None
            if source is None:
                source = self._least_behind(task, destination)
                if source is None:
                    continue
            standby[source].add(task)
            warmed = self._take_warmup()
            if not warmed:
                standby[destination].remove(task)
            self.steps.standby_waits(task, source, destination, self.warmups_left, is_caught_up=polled)
            queue.replace(source, destination, gained=1, lost=0 if warmed else 1, polled=polled)
            moved += 1
        return moved

    def _queue(self) -> ClientQueue:
        counts = [len(held) + len(self.standby[client]) for client, held in enumerate(self.active)]
        return ClientQueue(counts, self.capacities, self.hash_order)

    def _take_warmup(self) -> bool:
        self.warmups_left -= 1
        return self.warmups_left >= 0

    def _swap(self, task: int, source: int, destination: int) -> None:
        self.standby[source].remove(task)
        self.active[source].add(task)
        self.active[destination].remove(task)
        self.standby[destination].add(task)

    def _move(self, task: int, source: int, destination: int) -> bool:
        self.active[source].add(task)
        self.active[destination].remove(task)
        if not self._take_warmup():
            return False
        self.standby[destination].add(task)
        self._warmups.setdefault(destination, set()).add(task)
        return True

    def _least_behind(self, task: int, destination: int) -> int | None:
        for client in self.recovery.by_lag(task):
            if client == destination:
                return None
            if task not in self.active[client] and task not in self.standby[client]:
                return client
        return None


def _polled(movements: Sequence[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """(task, client) in the order in which a ``java.util.PriorityQueue`` by (caught-up clients, task) yields them.

    Movements of one task tie, and then the steps of the heap decide. So this runs the heap itself, on numbers.
    Movements come in the order of insertion.
    """
    if len({task for _, task, _ in movements}) == len(movements):
        return [(task, client) for _, task, client in sorted(movements)]
    width = max(task for _, task, _ in movements) + 1
    keys: list[int] = []
    clients: list[int] = []
    for caught_up, task, client in movements:
        _offer(keys, clients, caught_up * width + task, client)
    polled: list[tuple[int, int]] = []
    while keys:
        polled.append((keys[0] % width, clients[0]))
        _remove_head(keys, clients)
    return polled


def _offer(keys: list[int], clients: list[int], key: int, client: int) -> None:
    index = len(keys)
    keys.append(key)
    clients.append(client)
    while index > 0:
        parent = (index - 1) >> 1
        above = keys[parent]
        if key >= above:
            break
        keys[index], clients[index] = above, clients[parent]
        index = parent
    keys[index], clients[index] = key, client


def _remove_head(keys: list[int], clients: list[int]) -> None:
    key, client = keys.pop(), clients.pop()
    size = len(keys)
    if size == 0:
        return
    half = size >> 1
    index = 0
    while index < half:
        child = 2 * index + 1
        below = keys[child]
        if child + 1 < size and below > keys[child + 1]:
            child += 1
            below = keys[child]
        if key <= below:
            break
        keys[index], clients[index] = below, clients[child]
        index = child
    keys[index], clients[index] = key, client
