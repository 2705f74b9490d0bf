"""The worst states of each assignor in each metric, and those in which it is most behind the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from assignor_lab.scoring.output.results_table import ResultsTable

__all__ = ["MOST", "OriginTable", "worst_rows"]

#: Worst cases of each assignor and metric, of either kind.
MOST = 3


class OriginTable:
    """Where the states of one assignor's rows come from: columns item, round, scenario, family, seed."""

    def __init__(self, table: ResultsTable, assignor: str) -> None:
        origins = pq.read_table(table.path, columns=["assignor", "item", "round", "scenario", "family", "seed"])
        self._rows = origins.filter(pc.equal(origins["assignor"], assignor)).drop_columns(["assignor"])

    def __getitem__(self, row: int) -> dict[str, Any]:
        origin: dict[str, Any] = self._rows.slice(row, 1).to_pylist()[0]
        if origin["scenario"] is None:
            origin["scenario"] = f"item {origin['item']}"
        return origin


def worst_rows(values: pa.Array, direction: str, beyond: float | None = None) -> list[int]:
    """Positions of the ``MOST`` worst values, the worst first, equal ones in order.

    Args:
        values: Figures, null where there is none.
        direction: The metric's; with ``none`` nothing is worse than anything.
        beyond: Only what is worse than this; ``None``: than the best value, so that there is none if all are equal.
    """
    if direction == "none" or values.null_count == len(values):
        return []
    sign, order = (1.0, "descending") if direction == "lower" else (-1.0, "ascending")
    good = (pc.min if direction == "lower" else pc.max)(values).as_py() if beyond is None else beyond
    rows: Sequence[int] = pc.array_sort_indices(values, order=order, null_placement="at_end")[:MOST].to_pylist()
    found = [(row, values[row].as_py()) for row in rows]
    return [row for row, value in found if value is not None and sign * value > sign * good]
