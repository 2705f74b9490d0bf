"""The run divided by family and by size of the group: figures, their distribution and the differences of each part.

A history belongs to one part with all its rounds: its family, and the size class of its largest number of clients.
Parts are sums of cells (a family and a size class), so each figure is read once. The result is bounded for any number
of states. If there are many families, assignors and metrics, families and sizes are not combined; beyond that only the
whole run remains.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from assignor_lab.model.comparisons import (
    SizeClass,
    SliceDifferences,
    SliceFigures,
    SummaryBins,
    SummarySlice,
    SummarySlices,
)
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.statistics.bins import Bins, bins_of

__all__ = ["MOST_FIGURES", "SIZES", "Slice", "Slices", "PartsOfRun", "rounded", "slices_of"]

#: Least number of clients of each size class.
SIZES = (1, 4, 9, 21, 101)
#: Most entries (parts times assignors times metrics).
MOST_FIGURES = 12_000
#: Kept digits of a figure.
_DIGITS = 6

Cell = tuple[str | None, int | None]


@attrs.frozen
class Slice:
    """A part of the run.

    Args:
        histories: Histories and single states in it.
    """

    family: int | None
    size: int | None
    cells: tuple[int, ...]
    histories: int


@attrs.frozen(eq=False)
class Slices:
    """The division of a run.

    Args:
        families: Families with states, by name; ``None``, at the end, for states that were not generated.
    """

    families: tuple[str | None, ...]
    sizes: tuple[int, ...]
    parts: tuple[Slice, ...]
    cell_of_item: pa.Array
    items: pa.Array

    def cells_of(self, items: pa.Array) -> pa.Array:
        """The cell of each of ``items``."""
        return self.cell_of_item.take(pc.index_in(items, value_set=self.items))

    def summary(
        self,
        bins: Sequence[SummaryBins],
        figures: Sequence[SliceFigures],
        differences: Sequence[SliceDifferences],
    ) -> SummarySlices:
        uppers = [*(low - 1 for low in SIZES[1:]), None]
        return SummarySlices(
            families=self.families,
            sizes=tuple(SizeClass(low, uppers[SIZES.index(low)]) for low in self.sizes),
            of=tuple(SummarySlice(part.family, part.size, part.histories) for part in self.parts),
            bins=tuple(bins),
            figures=tuple(figures),
            differences=tuple(differences),
        )

    def spread(
        self, columns: Mapping[str, pa.Array], cells: Mapping[str, pa.Array]
    ) -> tuple[Bins, dict[str, PartsOfRun]]:
        """The distribution of one metric's figures in each part: the common bins, and each assignor's figures."""
        bins = bins_of(pa.chunked_array([values.drop_null() for values in columns.values()], pa.float64()))
        return bins, {assignor: self._spread(values, cells[assignor], bins) for assignor, values in columns.items()}

    def _spread(self, values: pa.Array, cells: pa.Array, bins: Bins) -> PartsOfRun:
        known = pa.table({"cell": cells, "value": values}).filter(pc.is_valid(values))
        known = known.append_column("bin", bins.positions(known["value"]))
        of = ["count", "sum", "min", "max"]
        # One thread, so that sums do not depend on an order.
        groups = known.group_by(["cell", "bin"], use_threads=False).aggregate([("value", name) for name in of])
        by_cell: dict[int, list[dict[str, Any]]] = {}
        for group in groups.sort_by([("cell", "ascending"), ("bin", "ascending")]).to_pylist():
            by_cell.setdefault(group["cell"], []).append(group)
        return PartsOfRun(
            tuple(
                _added_up([group for cell in part.cells for group in by_cell.get(cell, ())], len(bins))
                for part in self.parts
            )
        )


@attrs.frozen
class PartFigures:
    """The figures of one part; ``None`` if ``n`` is 0."""

    n: int
    mean: float | None = None
    min: float | None = None
    max: float | None = None
    counts: tuple[int, ...] = ()


@attrs.frozen
class PartsOfRun:
    """The figures of one metric and assignor in each part."""

    parts: tuple[PartFigures, ...]

    def of(self, assignor: str, metric: str) -> SliceFigures:
        return SliceFigures(
            assignor,
            metric,
            n=tuple(each.n for each in self.parts),
            mean=tuple(each.mean for each in self.parts),
            min=tuple(each.min for each in self.parts),
            max=tuple(each.max for each in self.parts),
            counts=tuple(each.counts for each in self.parts),
        )


def _added_up(groups: Sequence[Mapping[str, Any]], bins: int) -> PartFigures:
    counts = [0] * bins
    for group in groups:
        counts[group["bin"]] += group["value_count"]
    number = sum(counts)
    if not number:
        return PartFigures(0)
    while counts[-1] == 0:
        counts.pop()
    return PartFigures(
        number,
        mean=rounded(sum(group["value_sum"] for group in groups) / number),
        min=rounded(min(group["value_min"] for group in groups)),
        max=rounded(max(group["value_max"] for group in groups)),
        counts=tuple(counts),
    )


def rounded(figure: float) -> float:
    """``figure`` with the digits that a drawing needs."""
    return float(f"{figure:.{_DIGITS}g}")


def slices_of(table: ResultsTable, metrics: int) -> Slices:
    """The division of a run."""
    rows = pq.read_table(table.path, columns=["item", "family", "clients"])
    items = rows.group_by("item", use_threads=False).aggregate([("family", "min"), ("clients", "max")]).sort_by("item")
    keys = [(family, _size(clients)) for family, clients in _pairs(items)]
    families = tuple(sorted({family for family, _ in keys}, key=lambda name: (name is None, name or "")))
    classes = sorted({size for _, size in keys if size is not None})
    cells = sorted(dict.fromkeys(keys), key=lambda key: (families.index(key[0]), -1 if key[1] is None else key[1]))
    number = {cell: position for position, cell in enumerate(cells)}
    histories = [0] * len(cells)
    for key in keys:
        histories[number[key]] += 1
    parts = _parts(families, classes, cells, histories, MOST_FIGURES // max(len(table.assignors) * metrics, 1))
    return Slices(
        families,
        tuple(SIZES[size] for size in classes),
        parts,
        pa.array([number[key] for key in keys], pa.int32()),
        items["item"].combine_chunks(),
    )


def _pairs(items: pa.Table) -> Iterable[tuple[str | None, int | None]]:
    return zip(items["family_min"].to_pylist(), items["clients_max"].to_pylist(), strict=True)


def _size(clients: int | None) -> int | None:
    return None if clients is None else max(sum(clients >= low for low in SIZES) - 1, 0)


def _parts(
    families: Sequence[str | None], classes: Sequence[int], cells: Sequence[Cell], histories: Sequence[int], most: int
) -> tuple[Slice, ...]:
    one_way = [*((family, None) for family in range(len(families))), *((None, size) for size in range(len(classes)))]
    both_ways = product(range(len(families)), range(len(classes)))
    found: list[Slice] = []
    for wanted in ([(None, None)], one_way, list(both_ways)):
        more = []
        for family, size in wanted:
            own = tuple(
                position
                for position, (name, own_size) in enumerate(cells)
                if (family is None or families[family] == name) and (size is None or classes[size] == own_size)
            )
            if own or not found:
                more.append(Slice(family, size, own, sum(histories[cell] for cell in own)))
        if found and len(found) + len(more) > most:
            break
        found += more
    return tuple(found)
