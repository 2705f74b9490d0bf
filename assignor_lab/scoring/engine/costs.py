"""Time of a run's rows, and the expected cost of work items, so that the most expensive blocks begin first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignor_lab.groups.work import WorkItem

__all__ = ["SizeOf", "Spent", "spent_on", "units_of"]

BYTES_OF_UNIT = 4_096
#: Largest estimate of a plugin that counts: sums of many stay finite.
MOST_UNITS = 1e12

SizeOf = Callable[[int], float]


@attrs.frozen
class Spent:
    """Time of one core by the clock, in milliseconds: all three parts wait alike on a busy machine."""

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
    return Spent(_sum(shared) + _sum(own), _sum(rows["assign_wall_ms"]), _sum(rows["metrics_ms"]))


def _sum(values: pa.ChunkedArray) -> float:
    return float(pc.sum(values).as_py() or 0.0)


def units_of(items: Iterable[WorkItem], sizes: Mapping[str, SizeOf]) -> float:
    """Size of some items: a scenario by its document, a history by its family's estimate."""
    return sum(_units(item, sizes) for item in items)


def _units(item: WorkItem, sizes: Mapping[str, SizeOf]) -> float:
    if item.document is not None:
        return 1.0 + len(item.document) / BYTES_OF_UNIT
    size = sizes.get(item.family or "")
    if size is None:
        return 1.0
    try:
        found = float(size(item.seed or 0))
    except Exception:  # noqa: BLE001 - a family is a plugin and may raise anything; an estimate is nothing to fail for
        return 1.0
    return min(found, MOST_UNITS) if 0.0 < found < float("inf") else 1.0
