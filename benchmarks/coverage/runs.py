"""Many runs of one size from one population: those with an interval, and those of them that cover the truth."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from zlib import crc32

import attrs
import numpy as np

from assignor_lab.model.comparisons import NoInterval
from assignor_lab.scoring.statistics.intervals import interval_of, one_sided_limits
from assignor_lab.scoring.statistics.refusal import shape_of
from benchmarks.coverage.populations import LIMITS, POPULATIONS

__all__ = ["LEVEL", "SIZES", "Cell", "cells", "measured"]

LEVEL = 0.95
SIZES = (10, 20, 40, 60, 100, 200, 400, 1_000, 2_000)
#: Tolerance of a limit, relative to the figures.
_ROUNDING = 1e-9

_BY_NAME = {population.name: population for population in (*POPULATIONS, *LIMITS)}


@attrs.frozen
class Cell:
    """The results of many runs.

    Args:
        size: Histories of a run.
        given: Runs with an interval.
        covered: Those of them that cover the true mean.
        above_lower: Runs with the truth above the one-sided lower limit.
        below_upper: Runs with the truth below the upper one.
    """

    population: str
    size: int
    runs: int
    given: int
    covered: int
    above_lower: int
    below_upper: int


def measured(population: str, size: int, runs: int, seed: int, level: float = LEVEL) -> Cell:
    """The same arguments give the same cell."""
    of = _BY_NAME[population]
    chance = np.random.default_rng([seed, crc32(population.encode()), size])
    given = covered = above = below = 0
    truth, rounding = of.mean, _ROUNDING * (1 + abs(of.mean))
    for _ in range(runs):
        shape = shape_of(np.asarray(of.draw(chance, size), dtype=np.float64))
        found, limits = interval_of(shape, level), one_sided_limits(shape, level)
        if isinstance(found, NoInterval) or isinstance(limits, NoInterval):
            continue
        given += 1
        covered += found[0] - rounding <= truth <= found[1] + rounding
        above += limits[0] - rounding <= truth
        below += truth <= limits[1] + rounding
    return Cell(population, size, runs, given, covered, above, below)


def cells(runs: int, seed: int, level: float, processes: int) -> Iterator[Cell]:
    pairs = list(product(_BY_NAME, SIZES))
    with ProcessPoolExecutor(processes) as pool:
        names, sizes = zip(*pairs, strict=True)
        number = len(pairs)
        yield from pool.map(measured, names, sizes, [runs] * number, [seed] * number, [level] * number)
