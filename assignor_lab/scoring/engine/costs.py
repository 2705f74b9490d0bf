"""Expected costs of work items, so that large items are balanced over the cores.

A family may estimate the size of a history from its seed; a scenario's size is that of its document. The cost of a unit
is learnt from finished waves, for each source separately. Estimates affect how work is divided, and no result.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignor_lab.groups.work import WorkItem

__all__ = ["Costs", "Spent", "dealt", "spent_on"]

#: Assumed cost of a unit in milliseconds, before any measurement.
FIRST_GUESS_MS = 50.0
BYTES_OF_UNIT = 4_096
#: Weight of a new measurement in the rate of a source.
_WEIGHT = 0.5

SizeOf = Callable[[int], float]


@attrs.frozen
class Spent:
    """Time of one core, in milliseconds."""

    build: float = 0.0
    assign: float = 0.0
    metrics: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.build + other.build, self.assign + other.assign, self.metrics + other.metrics)

    @property
    def total(self) -> float:
        return self.build + self.assign + self.metrics


def spent_on(rows: pa.Table) -> Spent:
    """Time spent on the rows of both tables side by side; a single state, which all share, was built once."""
    alone = pc.is_null(rows["family"])
    shared = rows.filter(alone).group_by(["item", "round"]).aggregate([("build_ms", "max")])["build_ms_max"]
    own = rows.filter(pc.invert(alone))["build_ms"]
    return Spent(_sum(shared) + _sum(own), _sum(rows["assign_ms"]), _sum(rows["metrics_ms"]))


def _sum(values: pa.ChunkedArray) -> float:
    return float(pc.sum(values).as_py() or 0.0)


@attrs.define
class Costs:
    """Estimates for the items of a run."""

    sizes: Mapping[str, SizeOf] = attrs.field(factory=dict)
    _rates: dict[int, float] = attrs.field(factory=dict)
    _units: dict[int, float] = attrs.field(factory=dict)

    def units(self, item: WorkItem) -> float:
        """Size of an item, comparable within its source."""
        held = self._units.get(item.number)
        if held is None:
            held = self._units[item.number] = self._measured(item)
        return held

    def _measured(self, item: WorkItem) -> float:
        if item.document is not None:
            return 1.0 + len(item.document) / BYTES_OF_UNIT
        size = self.sizes.get(item.family or "")
        if size is None:
            return 1.0
        try:
            found = float(size(item.seed or 0))
        except Exception:  # noqa: BLE001 - a family is a plugin and may raise anything; an estimate is nothing to fail for
            return 1.0
        return found if 0.0 < found < float("inf") else 1.0

    def of(self, item: WorkItem) -> float:
        """Expected cost of an item, in milliseconds of one core."""
        return self.units(item) * self._rate(item.source)

    def knows(self, source: int) -> bool:
        return source in self._rates

    def learn(self, items: Iterable[WorkItem], rows: pa.Table) -> None:
        units: dict[int, float] = {}
        for item in items:
            units[item.source] = units.get(item.source, 0.0) + self.units(item)
            del self._units[item.number]
        for source, size in units.items():
            found = spent_on(rows.filter(pc.equal(rows["source"], source))).total / size
            held = self._rates.get(source)
            self._rates[source] = found if held is None else held + _WEIGHT * (found - held)

    def _rate(self, source: int) -> float:
        held = self._rates.get(source)
        if held is not None:
            return held
        return sum(self._rates.values()) / len(self._rates) if self._rates else FIRST_GUESS_MS


def dealt(items: Sequence[WorkItem], hands: int, cost: Callable[[WorkItem], float]) -> list[list[WorkItem]]:
    """The items in at most ``hands`` heaps of about equal cost: the most expensive first, each to the smallest heap."""
    heaps: list[list[WorkItem]] = [[] for _ in range(max(1, min(hands, len(items))))]
    smallest = [(0.0, number) for number in range(len(heaps))]
    for weight, _, item in sorted(
        ((cost(item), item.number, item) for item in items), key=lambda dear: (-dear[0], dear[1])
    ):
        held, number = smallest[0]
        heaps[number].append(item)
        heapq.heapreplace(smallest, (held + weight, number))
    return heaps
