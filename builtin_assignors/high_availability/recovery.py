"""Recovery: the clients that are caught up with a task, and the lags of the others.

Kafka: ``HighAvailabilityTaskAssignor``.

Lags come as one row of numbers for each client; clients with equal lags may share one row. A task's minimum and order
of clients are computed when a movement first needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["Recovery", "RUNNING_ACTIVE", "UNBOUNDED_LAG"]

#: Lag of a running active task on its client.
RUNNING_ACTIVE = -2
#: ``acceptable.recovery.lag`` at which all clients are caught up (Java's ``Long.MAX_VALUE``).
UNBOUNDED_LAG = 2**63 - 1


class Recovery:
    """Lags of all stateful tasks on all clients."""

    __slots__ = ("_acceptable_lag", "_by_lag", "_caught_up", "_distinct_rows", "_lowest", "_rows")

    def __init__(self, rows: Sequence[Sequence[int]], acceptable_lag: int) -> None:
        self._rows = rows
        self._acceptable_lag = acceptable_lag
        self._distinct_rows = list({id(row): row for row in rows}.values())
        self._lowest: dict[int, int] = {}
        self._by_lag: dict[int, list[int]] = {}
        self._caught_up: dict[int, list[int]] = {}

    def worth_moving(self, tasks: Iterable[int], client: int) -> list[int]:
        """The tasks with which ``client`` is not caught up while another client is ahead, in their order."""
        row, acceptable = self._rows[client], self._acceptable_lag
        if acceptable == UNBOUNDED_LAG:
            return []
        behind = [task for task in tasks if (lag := row[task]) != RUNNING_ACTIVE and not 0 <= lag <= acceptable]
        return [task for task in behind if self._lowest_lag(task) < row[task]]

    def _lowest_lag(self, task: int) -> int:
        lowest = self._lowest.get(task)
        if lowest is None:
            lowest = self._lowest[task] = min([row[task] for row in self._distinct_rows])
        return lowest

    def by_lag(self, task: int) -> list[int]:
        """All clients by (lag, client). Numbers are compared as they are: an unknown lag, -3, comes first."""
        order = self._by_lag.get(task)
        if order is None:
            column = [row[task] for row in self._rows]
            order = self._by_lag[task] = sorted(range(len(column)), key=column.__getitem__)
        return order

    def caught_up(self, task: int) -> list[int]:
        """The clients that are caught up with ``task``, by (lag, client). An unknown lag never counts."""
        clients = self._caught_up.get(task)
        if clients is None:
            rows, acceptable = self._rows, self._acceptable_lag
            clients = self._caught_up[task] = [
                client
                for client, row in enumerate(rows)
                if (lag := row[task]) <= acceptable and (lag >= 0 or lag == RUNNING_ACTIVE)
            ]
            if len(clients) > 1:
                clients.sort(key=lambda client: rows[client][task])
        return clients
