"""The finished table of results, as far as figures need it: one column is in memory at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

__all__ = ["ResultsTable"]

_STATE_AND_ERROR = ("item", "round", "error_type", "not_comparable")


@attrs.frozen(eq=False)
class ResultsTable:
    """The table ``results`` of a run, as far as figures need it.

    Args:
        path: The Parquet file.
        assignors: Assignors that have rows, in the order of the summary.
    """

    path: Path
    assignors: tuple[str, ...]
    _keys: pa.Table = attrs.field(init=False)

    @_keys.default
    def _read_keys(self) -> pa.Table:
        table = pq.read_table(self.path, columns=[*_STATE_AND_ERROR, "assignor", "scenario"])
        return table.combine_chunks()

    def rows_of(self, assignor: str) -> pa.Table:
        """Keys of the rows of one assignor, in order."""
        return self._keys.filter(pc.equal(self._keys["assignor"], assignor))

    def column(self, metric: str) -> dict[str, pa.Array]:
        """A metric by assignor, each in the order of its rows; null where an answer is not comparable."""
        values = pq.read_table(self.path, columns=[metric])[metric].combine_chunks()
        if self._keys["not_comparable"].null_count < len(values):
            values = pc.if_else(pc.is_null(self._keys["not_comparable"]), values, None)
        return {
            assignor: values.filter(pc.equal(self._keys["assignor"], assignor)).combine_chunks()
            if isinstance(values, pa.ChunkedArray)
            else values.filter(pc.equal(self._keys["assignor"], assignor).combine_chunks())
            for assignor in self.assignors
        }

    def why_not_comparable(self, assignor: str) -> str | None:
        """Why the first of an assignor's answers that are not comparable is not; ``None``: all are."""
        reasons = self.rows_of(assignor)["not_comparable"].drop_null()
        return str(reasons[0].as_py()) if len(reasons) else None

    def answered(self, assignors: Sequence[str]) -> dict[str, pa.Array]:
        """For each of ``assignors`` a mask of its rows: true in the states to which all have a comparable answer."""
        good: dict[tuple[int, int], int] = {}
        for assignor in assignors:
            rows = self.rows_of(assignor)
            columns = (rows[name].to_pylist() for name in _STATE_AND_ERROR)
            for item, number, error, not_comparable in zip(*columns, strict=True):
                if error is None and not_comparable is None:
                    good[item, number] = good.get((item, number), 0) + 1
        masks = {}
        for assignor in assignors:
            rows = self.rows_of(assignor)
            keys = zip(rows["item"].to_pylist(), rows["round"].to_pylist(), strict=True)
            masks[assignor] = pa.array([good.get(key) == len(assignors) for key in keys], pa.bool_())
        return masks
