"""Paired differences in each part of the run, with intervals as those of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from assignor_lab.scoring.output.results_table import PairedFigures
from assignor_lab.scoring.statistics.differences import LEVEL
from assignor_lab.scoring.statistics.intervals import interval_of, unit_means
from assignor_lab.scoring.statistics.refusal import IntervalRefusal, shape_of
from assignor_lab.scoring.statistics.slices import Slices, rounded

__all__ = ["slice_differences"]


def slice_differences(slices: Slices, figures: PairedFigures) -> dict[str, list[Any]]:
    """Lists with an entry for each part: ``histories``, ``difference``, ``low``, ``high``, ``no_interval``.

    Without a history there is no difference. ``no_interval`` is the code of the reason of a missing interval.
    """
    by_cell = _by_cell(slices, figures)
    lists: dict[str, list[Any]] = {name: [] for name in ("histories", "difference", "low", "high", "no_interval")}
    nothing: npt.NDArray[np.float64] = np.zeros(0)
    for part in slices.parts:
        of_part = np.concatenate([nothing, *(by_cell[cell] for cell in part.cells if cell in by_cell)])
        for name, figure in _entry(of_part).items():
            lists[name].append(figure)
    return lists


def _by_cell(slices: Slices, figures: PairedFigures) -> dict[int, npt.NDArray[np.float64]]:
    if not len(figures.units):
        return {}
    differences = unit_means(figures.own - figures.baseline, figures.units)
    cells = np.asarray(slices.cells_of(pa.array(np.unique(figures.units))), dtype=np.int64)
    order = np.argsort(cells, kind="stable")
    found, starts = np.unique(cells[order], return_index=True)
    return dict(zip(found.tolist(), np.split(differences[order], starts[1:]), strict=True))


def _entry(differences: npt.NDArray[np.float64]) -> dict[str, Any]:
    entry: dict[str, Any] = {"histories": len(differences), "difference": None, "low": None, "high": None}
    if not len(differences):
        return {**entry, "no_interval": None}
    shape = shape_of(differences)
    entry["difference"] = rounded(shape.mean)
    found = interval_of(shape, LEVEL)
    if isinstance(found, IntervalRefusal):
        return {**entry, "no_interval": found.code}
    return {**entry, "low": rounded(found[0]), "high": rounded(found[1]), "no_interval": None}
