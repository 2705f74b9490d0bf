"""Paired differences in each part of the run, with intervals as those of the whole."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from assignor_lab.model.comparisons import NoInterval, SliceDifferences
from assignor_lab.scoring.output.results_table import PairedFigures
from assignor_lab.scoring.statistics.differences import LEVEL
from assignor_lab.scoring.statistics.intervals import interval_of, unit_means
from assignor_lab.scoring.statistics.refusal import shape_of
from assignor_lab.scoring.statistics.slices import Slices, rounded

__all__ = ["slice_differences"]


def slice_differences(slices: Slices, figures: PairedFigures, assignor: str, metric: str) -> SliceDifferences:
    """The differences of each part. Without a history there is no difference."""
    by_cell = _by_cell(slices, figures)
    nothing: npt.NDArray[np.float64] = np.zeros(0)
    found = [
        _of_part(np.concatenate([nothing, *(by_cell[cell] for cell in part.cells if cell in by_cell)]))
        for part in slices.parts
    ]
    return SliceDifferences(
        assignor=assignor,
        metric=metric,
        histories=tuple(each.histories for each in found),
        difference=tuple(each.difference for each in found),
        low=tuple(each.low for each in found),
        high=tuple(each.high for each in found),
        no_interval=tuple(each.no_interval for each in found),
    )


@attrs.frozen
class _OfPart:
    histories: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    no_interval: str | None = None


def _by_cell(slices: Slices, figures: PairedFigures) -> dict[int, npt.NDArray[np.float64]]:
    if not len(figures.units):
        return {}
    differences = unit_means(figures.own - figures.baseline, figures.units)
    cells = np.asarray(slices.cells_of(pa.array(np.unique(figures.units))), dtype=np.int64)
    order = np.argsort(cells, kind="stable")
    found, starts = np.unique(cells[order], return_index=True)
    return dict(zip(found.tolist(), np.split(differences[order], starts[1:]), strict=True))


def _of_part(differences: npt.NDArray[np.float64]) -> _OfPart:
    number = len(differences)
    if not number:
        return _OfPart(0)
    shape = shape_of(differences)
    mean, found = rounded(shape.mean), interval_of(shape, LEVEL)
    if isinstance(found, NoInterval):
        return _OfPart(number, mean, no_interval=found.code)
    return _OfPart(number, mean, rounded(found[0]), rounded(found[1]))
