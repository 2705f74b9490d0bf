"""Paired differences in each part of the run, with intervals as those of the whole.

Moments are added up from cells, so a part costs nothing but its numbers. The whole run's own interval, which gates look
at, is that of :mod:`assignor_lab.scoring.statistics.differences`; here digits beyond the sixth are dropped.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from assignor_lab.scoring.statistics.differences import LEVEL
from assignor_lab.scoring.statistics.intervals import limits, unit_means
from assignor_lab.scoring.statistics.pairs import PairedFigures
from assignor_lab.scoring.statistics.slices import Slices, rounded

__all__ = ["slice_differences"]


def slice_differences(slices: Slices, figures: PairedFigures) -> dict[str, list[float | None]]:
    """Lists with an entry for each part: ``histories``, ``difference``, ``low``, ``high``.

    Without a history there is no difference, with fewer than two no interval.
    """
    lists: dict[str, list[float | None]] = {name: [] for name in ("histories", "difference", "low", "high")}
    cells = max((cell for part in slices.parts for cell in part.cells), default=-1) + 1
    sums: list[npt.NDArray[np.float64]] = [np.zeros(cells)] * 4
    centre = 0.0
    if len(figures.units):
        differences = unit_means(figures.own - figures.baseline, figures.units)
        cell = np.asarray(slices.cells_of(pa.array(np.unique(figures.units))), dtype=np.int64)
        # About the mean of all, so that squares lose no digits.
        centre = float(differences.mean())
        about = differences - centre
        sums = [np.asarray(np.bincount(cell, about**power, cells), dtype=np.float64) for power in range(4)]
    for part in slices.parts:
        number, *powers = (float(of[list(part.cells)].sum()) for of in sums)
        low = high = mean = None
        if number:
            first, second, third = (power / number for power in powers)
            mean = centre + first
            if number > 1:
                spread = sqrt(max(second - first**2, 0.0) * number / (number - 1))
                cubes = third - 3 * first * second + 2 * first**3
                ends = limits(int(number), mean, spread, cubes, (1 + LEVEL) / 2)
                low, high = map(rounded, ends)
        for name, figure in (
            ("histories", int(number)),
            ("difference", None if mean is None else rounded(mean)),
            ("low", low),
            ("high", high),
        ):
            lists[name].append(figure)
    return lists
