"""The worst states of each assignor in each metric, and those in which it is most behind the baseline."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["MOST", "worst_rows"]

#: Worst cases of each assignor and metric, of either kind.
MOST = 3


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
