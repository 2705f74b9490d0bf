"""Pairs: rows of two assignors that belong to the same state, from the finished table of results."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from assignor_lab.scoring.output.results_table import ResultsTable

__all__ = ["Pairs", "PairedFigures", "pairs_of"]


@attrs.frozen(eq=False)
class PairedFigures:
    """One metric of two assignors in the states in which both have a figure.

    Args:
        own: The assignor's figures.
        baseline: The baseline's, in the same states.
        units: Number of the history or single state that each belongs to.
        rows: Position of each among the assignor's rows.
    """

    own: npt.NDArray[np.float64]
    baseline: npt.NDArray[np.float64]
    units: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class Pairs:
    """Rows of two assignors that belong together.

    Args:
        own_rows: Positions among the assignor's rows.
        baseline_rows: Positions among the baseline's rows.
        units: Number of the item that each pair belongs to.
    """

    own_rows: npt.NDArray[np.int64]
    baseline_rows: npt.NDArray[np.int64]
    units: npt.NDArray[np.int64]

    def figures(self, own: pa.Array, baseline: pa.Array) -> PairedFigures:
        """The pairs in which both have a figure; the columns hold a value for each row of the assignor."""
        mine = _numbers(own)[self.own_rows]
        other = _numbers(baseline)[self.baseline_rows]
        known = ~(np.isnan(mine) | np.isnan(other))
        return PairedFigures(mine[known], other[known], self.units[known], self.own_rows[known])


def pairs_of(table: ResultsTable, assignor: str, baseline: str) -> Pairs:
    """The rows of two assignors that are about the same item and round."""
    own, own_items = _states(table, assignor)
    other, _ = _states(table, baseline)
    if np.array_equal(own, other):  # nearly always: everybody answers everything
        everything = np.arange(len(own), dtype=np.int64)
        return Pairs(everything, everything, own_items)
    _, own_rows, baseline_rows = np.intersect1d(own, other, assume_unique=True, return_indices=True)
    return Pairs(own_rows, baseline_rows, own_items[own_rows])


#: More rounds than any history has: item and round make one number.
_ROUNDS = 2**20


def _states(table: ResultsTable, assignor: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    rows = table.rows_of(assignor)
    items = np.asarray(rows["item"].to_numpy(), dtype=np.int64)
    rounds = np.asarray(rows["round"].to_numpy(), dtype=np.int64)
    return items * _ROUNDS + rounds, items


def _numbers(column: pa.Array) -> npt.NDArray[np.float64]:
    """Figures, with NaN where there is none; the table itself holds finite figures only."""
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
