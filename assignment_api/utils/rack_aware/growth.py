"""One period of sweeps with growth rates: how long each comparison keeps its result.

A distance ``value`` is assumed to be ``value + m * rate`` after ``m`` further periods; each comparison bounds ``m``. If
the period ends in its initial state, one period later, the bound is the number of periods to skip.
"""

from __future__ import annotations

from operator import add

from assignment_api.utils.rack_aware.distances import FROM_CLIENT, Distances
from assignment_api.utils.rack_aware.repetition import UNBOUNDED

__all__ = ["play_period"]


def play_period(distances: Distances, length: int, gains: list[int]) -> int:
    """Run ``length`` sweeps; returns for how many further periods the distances fall by ``gains``.

    Args:
        gains: Change during the last ``length`` sweeps, as a snapshot.
    """
    expected = list(map(add, distances.snapshot(), gains))
    growing = _Growing(distances, gains)
    for _ in range(length):
        growing.sweep()
    distances.mark_all()
    if distances.snapshot() != expected or growing.rates() != gains:
        return 0
    return growing.limit


def _lowest(values: list[int]) -> tuple[int, int]:
    value = min(values)
    return value, values.index(value)


class _Growing:
    """The layers with rates. All nodes are scanned: one without effect may get one."""

    __slots__ = ("_client_rate", "_distances", "_place_rate", "_task_rate", "limit")

    def __init__(self, distances: Distances, gains: list[int]) -> None:
        tasks, places = len(distances.task), len(distances.place)
        self._distances = distances
        self._task_rate = gains[:tasks]
        self._place_rate = gains[tasks : tasks + places]
        self._client_rate = gains[tasks + places :]
        self.limit = UNBOUNDED

    def rates(self) -> list[int]:
        return [*self._task_rate, *self._place_rate, *self._client_rate]

    def sweep(self) -> None:
        self._scan_tasks()
        self._scan_places()
        self._scan_clients()

    # --- bounds -----------------------------------------------------------------------------------

    def _stays_below(self, low: int, low_rate: int, high: int, high_rate: int) -> None:
        if low_rate > high_rate:
            self.limit = min(self.limit, (high - low - 1) // (low_rate - high_rate))

    def _stays_not_below(self, high: int, high_rate: int, low: int, low_rate: int) -> None:
        if high_rate < low_rate:
            self.limit = min(self.limit, (high - low) // (low_rate - high_rate))

    # --- layers -----------------------------------------------------------------------------------

    def _scan_tasks(self) -> None:
        for group in range(self._distances.flow.problem.groups):
            self._relax_places(group)

    def _relax_places(self, group: int) -> None:
        distances, rates = self._distances, self._task_rate
        flow, surcharge = distances.flow, distances.flow.problem.non_overlap_cost
        first, end = flow.spans[group]
        values_of_tasks = distances.task[first:end]
        members: dict[int, list[int]] = {}
        for place, rate in enumerate(rates[first:end]):
            members.setdefault(rate, []).append(place)
        by_rack: list[list[tuple[int, int, int]]] = []
        for costs in flow.span_costs[group]:
            values = list(map(add, values_of_tasks, costs))
            # Lowest (value, task) of each rate: it stays the lowest.
            candidates = []
            for rate, places in members.items():
                value, place = (
                    min([(values[place], place) for place in places]) if len(members) > 1 else _lowest(values)
                )
                candidates.append((value + surcharge, first + place, rate))
            by_rack.append(candidates)
        extra: dict[int, list[tuple[int, int, int]]] = {}
        for task, index, cost in distances.extras[group]:
            extra.setdefault(index, []).append((distances.task[task] + cost, task, rates[task]))
        for rack, indices in enumerate(flow.places_by_rack[group]):
            for index in indices:
                candidates = by_rack[rack] + extra[index] if index in extra else by_rack[rack]
                self._relax_place(index, candidates)

    def _relax_place(self, index: int, candidates: list[tuple[int, int, int]]) -> None:
        distances = self._distances
        value, task, rate = min(candidates)
        now, now_rate = distances.place[index], self._place_rate[index]
        if value >= now:
            for other, _, other_rate in candidates:
                self._stays_not_below(other, other_rate, now, now_rate)
            return
        self._stays_below(value, rate, now, now_rate)
        for other, _, other_rate in candidates:
            if other_rate < rate:
                # A harmless tie now (the winner comes first) may matter later.
                self.limit = min(self.limit, max(0, (other - value - 1) // (rate - other_rate)))
        distances.place[index] = value
        distances.place_parent[index] = task
        self._place_rate[index] = rate

    def _scan_places(self) -> None:
        distances = self._distances
        flow = distances.flow
        clients = len(flow.problem.rack_of)
        for index, held in enumerate(flow.held):
            value, rate = distances.place[index], self._place_rate[index]
            group, client = divmod(index, clients)
            for task in held:
                reached = value - flow.problem.cost(task, client)
                if self._falls(reached, rate, distances.task[task], self._task_rate[task]):
                    distances.task[task] = reached
                    self._task_rate[task] = rate
            if len(held) >= flow.second_stage[group][client]:
                continue
            if self._falls(value, rate, distances.client[client], self._client_rate[client]):
                distances.client[client] = value
                distances.client_parent[client] = group
                self._client_rate[client] = rate

    def _scan_clients(self) -> None:
        distances = self._distances
        clients, held = len(distances.client), distances.flow.held
        for client, (value, rate) in enumerate(zip(distances.client, self._client_rate, strict=True)):
            for index in range(client, len(held), clients):
                if held[index] and self._falls(value, rate, distances.place[index], self._place_rate[index]):
                    distances.place[index] = value
                    distances.place_parent[index] = FROM_CLIENT
                    self._place_rate[index] = rate

    def _falls(self, reached: int, rate: int, now: int, now_rate: int) -> bool:
        """True if ``reached`` relaxes a node at ``now``; bounds the limit."""
        if reached < now:
            self._stays_below(reached, rate, now, now_rate)
            return True
        self._stays_not_below(reached, rate, now, now_rate)
        return False
