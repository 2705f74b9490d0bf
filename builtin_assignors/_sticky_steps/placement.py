"""Unfinished answer: tasks and load of each client."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from builtin_assignors._sticky_steps.ranking import LoadRule, Rank, RankedClients

__all__ = ["StickyPlacement"]


class StickyPlacement:
    """Tasks on clients.

    A set of tasks is a bitset, bit *t* for task *t*.
    """

    __slots__ = (
        "_capacities",
        "_idle_without_threads",
        "_is_uniform",
        "_paired",
        "_paired_owner",
        "_rank",
        "_rankings",
        "active_counts",
        "actives",
        "counts",
        "histories",
        "owner",
        "ranks",
        "standby_bits",
        "standbys",
        "tasks",
    )

    def __init__(self, num_tasks: int, capacities: Sequence[int], rule: LoadRule) -> None:
        clients = len(capacities)
        self.owner = [-1] * num_tasks
        self.actives: list[list[int]] = [[] for _ in range(clients)]
        self.standbys: list[list[int]] = [[] for _ in range(clients)]
        self.active_counts = [0] * clients
        self.counts = [0] * clients
        #: Tasks added to each client, and, complemented, removed from it; empty if no optimiser moved any.
        self.histories: list[list[int]] = []
        self.tasks = [0] * clients
        self.standby_bits = [0] * clients
        self._capacities = capacities
        self._idle_without_threads = rule.is_idle_without_threads
        # Among equal clients every rule orders by the number of tasks, and integers compare fastest.
        self._is_uniform = len(set(capacities)) == 1 and capacities[0] > 0
        self._rank = rule.rank
        self.ranks: list[Rank] = [0 if self._is_uniform else rule.rank(0, capacity) for capacity in capacities]
        self._rankings: list[RankedClients] = []
        self._paired: list[int] | None = None
        self._paired_owner: list[int] = []

    def ranking(self, order: Sequence[int]) -> RankedClients | None:
        """The clients grouped by load, updated from now on; None if a client without threads has no rank."""
        if not all(capacity > 0 for capacity in self._capacities):
            return None
        ranking = RankedClients(order, self.ranks)
        self._rankings.append(ranking)
        return ranking

    def done_with(self, ranking: RankedClients | None) -> None:
        """Stop updating ``ranking``."""
        self._rankings = [other for other in self._rankings if other is not ranking]

    def put_active(self, task: int, client: int) -> None:
        self.owner[task] = client
        self.actives[client].append(task)
        self.active_counts[client] += 1
        self.tasks[client] |= 1 << task
        self._count(client, 1)

    def keep(self, owners: Iterable[tuple[int, int]], quotas: Sequence[int] | None) -> list[int]:
        """Give unassigned tasks to clients as active, before any ranking exists.

        Args:
            quotas: Largest number of active tasks of each client; None for no limit.
        """
        owner, actives, tasks, counts = self.owner, self.actives, self.tasks, self.active_counts
        kept = []
        for task, client in owners:
            if quotas is None or counts[client] < quotas[client]:
                owner[task] = client
                actives[client].append(task)
                counts[client] += 1
                tasks[client] |= 1 << task
                kept.append(task)
        for client, count in enumerate(counts):
            self._count(client, count - self.counts[client])
        return kept

    def put_standby(self, task: int, client: int) -> None:
        self.standbys[client].append(task)
        self.standby_bits[client] |= 1 << task
        self.tasks[client] |= 1 << task
        self._count(client, 1)

    def _count(self, client: int, change: int) -> None:
        count = self.counts[client] = self.counts[client] + change
        old = self.ranks[client]
        new = self.ranks[client] = count if self._is_uniform else self._rank(count, self._capacities[client])
        if old != new:
            for ranking in self._rankings:
                ranking.move(client, old, new)

    def replace_active(self, moves: Iterable[tuple[int, int]]) -> None:
        """Move active tasks as an optimiser decided: pairs of task and new client.

        Tasks that met before the moves still count as having met. Tasks that the moves bring together do not.
        """
        if self._paired is None:
            self._paired, self._paired_owner = list(self.tasks), list(self.owner)
        for task, client in moves:
            old = self.owner[task]
            self.owner[task] = client
            self.actives[old].remove(task)
            self.actives[client].append(task)
            for holder, change in ((old, -1), (client, 1)):
                self.tasks[holder] ^= 1 << task
                self.active_counts[holder] += change
                self._count(holder, change)

    def met_by_active(self, task: int) -> int:
        """Bitset of the tasks that ``task`` met through its active copy; its own bit may be set."""
        if self._paired is None:
            return self.tasks[self.owner[task]]
        return self._paired[self._paired_owner[task]] | self.standby_bits[self.owner[task]]

    def is_overloaded(self, client: int) -> bool:
        """True if ``client`` has a task for each thread and another client is less loaded."""
        if self.counts[client] < self._capacities[client]:
            return False
        rank = self.ranks[client]
        if self._rankings:
            return bool(self._rankings[0].ranks[0] < rank)
        return any(other < rank for other in self.ranks)

    def least_loaded_of(self, clients: Sequence[int], unpaired: int) -> int | None:
        """As :meth:`RankedClients.least_loaded`, by a scan of ``clients`` in order; None if there is none."""
        if not clients:
            return None
        ranks, tasks = self.ranks, self.tasks
        best = -1
        for client in clients:
            held = tasks[client]
            if not held and (self._idle_without_threads or self._capacities[client] > 0):
                return client
            if (best < 0 or ranks[client] < ranks[best]) and held & unpaired:
                best = client
        if best >= 0:
            return best
        best = clients[0]
        for client in clients[1:]:
            if ranks[client] < ranks[best]:
                best = client
        return best
