"""Previous owners of tasks, in the orders of Kafka's hash maps (Kafka: ``LegacyStickyTaskAssignor``)."""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.java import fits_plain, grown_capacity, iteration_order, spread
from builtin_assignors._sticky_steps.problem import StickyProblem

__all__ = ["PreviousOwners"]

_PLAIN_SIZE = 8
_SMALLEST_SET = 16


class PreviousOwners:
    """Previous owner of each task, and its previous standby clients."""

    __slots__ = ("_copies", "_is_plain", "_problem", "_slots", "_standby_clients", "active")

    def __init__(self, problem: StickyProblem) -> None:
        #: Task to its previous client, the later one of two. Keys are in the order of insertion.
        self.active: dict[int, int] = {}
        self._standby_clients: dict[int, list[int]] = {}
        for client, tasks in enumerate(problem.previous_active):
            for task in tasks:
                self.active[task] = client
        for client, tasks in enumerate(problem.previous_standby):
            for task in tasks:
                self._standby_clients.setdefault(task, []).append(client)
        self._problem = problem
        self._copies: dict[int, list[int]] = {}
        self._slots: dict[int, list[int]] = {}
        self._is_plain = fits_plain(problem.client_hashes, _SMALLEST_SET)

    def has_standbys(self) -> bool:
        return bool(self._standby_clients)

    def has_standby(self, task: int) -> bool:
        return task in self._standby_clients

    def active_order(self) -> list[int]:
        """The tasks with a previous owner, in the order of Kafka's ``HashMap``."""
        return self._problem.orders.of_some(list(self.active))

    def standby_clients(self, task: int) -> list[int]:
        """The clients that had ``task`` as a standby, in the order of Kafka's ``HashSet``."""
        clients = self._standby_clients.get(task, [])
        return self._ordered(clients, _SMALLEST_SET) if len(clients) > 1 else clients

    def standby_clients_copied(self, task: int) -> list[int]:
        """The same in the order of the copy that Kafka makes before it compares loads; read-only."""
        copied = self._copies.get(task)
        if copied is None:
            copied = self.standby_clients(task)
            if len(copied) > 1:
                copied = self._ordered(copied, self._problem.jdk.set_copy_capacity(len(copied)))
            self._copies[task] = copied
        return copied

    def _ordered(self, clients: Sequence[int], initial_capacity: int) -> list[int]:
        problem = self._problem
        if len(clients) > _PLAIN_SIZE and not self._is_plain:
            hashes = [problem.client_hashes[client] for client in clients]
            return iteration_order(clients, hashes, initial_capacity, problem.client_ranks.__getitem__)
        capacity = grown_capacity(len(clients), initial_capacity)
        slots = self._slots.get(capacity)
        if slots is None:
            slots = self._slots[capacity] = [spread(code) & capacity - 1 for code in problem.client_hashes]
        return sorted(clients, key=slots.__getitem__)
