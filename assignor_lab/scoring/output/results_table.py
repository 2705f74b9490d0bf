"""The finished table of results, as far as figures need it.

Memory holds the keys of rows, some 25 bytes for each, and one column of figures at a time. The origin of a row,
including its names, is read from the file on demand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from assignor_lab.scoring.output.tables import parts_of

__all__ = ["PairedFigures", "Pairs", "ResultsTable", "RowOrigin", "pairs_of"]

_TEXTS = ("assignor", "error_type", "error_origin", "not_comparable")
_KEYS = ("item", "round", *_TEXTS)
_ORIGIN = ("item", "round", "scenario", "family", "seed", "time_ms")
#: Above the rounds of any history: item and round form one number.
_ROUNDS = 2**20
#: Up to this many rows, all columns are read at once and kept, because reading each takes longer than its use.
_SMALL_ROWS = 32_768
#: Pieces of the file that are kept for :meth:`ResultsTable.origin`.
_MOST_PIECES = 4


@attrs.frozen
class RowOrigin:
    """Origin of a row: its state, and the seed and family of a generated one."""

    item: int
    round: int
    scenario: str | None
    family: str | None
    seed: int | None
    time_ms: int | None

    @property
    def name(self) -> str:
        return f"item {self.item}" if self.scenario is None else self.scenario


@attrs.frozen(eq=False)
class ResultsTable:
    """The table ``results`` of a run, as far as figures need it."""

    path: Path
    assignors: tuple[str, ...]
    _keys: pa.Table = attrs.field(init=False)
    #: Assignor to a mask of its rows.
    _masks: dict[str, pa.BooleanArray] = attrs.field(factory=dict, init=False)
    #: First row of each piece of the file, with the file and the number of the piece's row group.
    _pieces: list[tuple[int, Path, int]] = attrs.field(factory=list, init=False)
    _read: dict[int, pa.Table] = attrs.field(factory=dict, init=False)
    _columns: dict[str, pa.ChunkedArray] = attrs.field(factory=dict, init=False)
    _found: dict[str, dict[str, pa.Array]] = attrs.field(factory=dict, init=False)

    @_keys.default
    def _read_keys(self) -> pa.Table:
        # The few distinct texts: each row has a small number for its own.
        return pq.read_table(self.path, columns=list(_KEYS), read_dictionary=list(_TEXTS)).combine_chunks()

    def rows_of(self, assignor: str) -> pa.Table:
        """Item, round, error and the reason of not being comparable of the rows of one assignor, in order."""
        return self._keys.filter(self._mask(assignor)).combine_chunks()

    def origin(self, assignor: str, position: int) -> RowOrigin:
        """Origin of an assignor's row."""
        row = int(pc.indices_nonzero(self._mask(assignor))[position].as_py())
        first, piece = self._piece_with(row)
        return RowOrigin(**piece.slice(row - first, 1).to_pylist()[0])

    def column(self, metric: str) -> dict[str, pa.Array]:
        """A metric by assignor, each in the order of its rows; null if an answer is not comparable."""
        if len(self._keys) > _SMALL_ROWS:
            return self._by_assignor(pq.read_table(self.path, columns=[metric])[metric].combine_chunks())
        if metric not in self._found:
            if not self._columns:
                table = pq.read_table(self.path)
                self._columns.update(zip(table.column_names, table.columns, strict=True))
            self._found[metric] = self._by_assignor(self._columns[metric].combine_chunks())
        return self._found[metric]

    def texts(self, column: str) -> dict[str, pa.Array]:
        """A column of texts by assignor, each in the order of its rows; empty if the kind of group has no such column.

        For small tables only.
        """
        if len(self._keys) > _SMALL_ROWS or column not in pq.read_schema(next(iter(parts_of(self.path)))).names:
            return {}
        return self.column(column)

    def _by_assignor(self, values: pa.Array) -> dict[str, pa.Array]:
        if self._keys["not_comparable"].null_count < len(values):
            values = pc.if_else(pc.is_null(self._keys["not_comparable"]), values, None)
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        found = {assignor: values.filter(self._mask(assignor)) for assignor in self.assignors}
        del values
        pa.default_memory_pool().release_unused()
        return found

    def why_not_comparable(self, assignor: str) -> str | None:
        """Reason of an assignor's first incomparable answer; ``None`` if all are comparable."""
        reasons = self.rows_of(assignor)["not_comparable"].drop_null()
        return str(reasons[0].as_py()) if len(reasons) else None

    def answered(self, assignors: Sequence[str]) -> dict[str, pa.Array]:
        """For each of ``assignors`` a mask of its rows: true in the states to which all have a comparable answer."""
        state, states = self._states()
        usable = pc.and_(pc.is_null(self._keys["error_type"]), pc.is_null(self._keys["not_comparable"]))
        good = np.zeros(states, dtype=np.int32)
        for assignor in assignors:
            answered = np.asarray(pc.and_(usable, self._mask(assignor)))
            good += np.bincount(state[answered], minlength=states).astype(np.int32)
        everybody = good == len(assignors)
        return {assignor: pa.array(everybody[state[np.asarray(self._mask(assignor))]]) for assignor in assignors}

    @property
    def number_of_states(self) -> int:
        """Number of states (pairs of item and round)."""
        return self._states()[1]

    def _states(self) -> tuple[npt.NDArray[np.int32], int]:
        keys = np.asarray(self._keys["item"], dtype=np.int64) * _ROUNDS + np.asarray(self._keys["round"])
        if not len(keys):
            return np.zeros(0, dtype=np.int32), 0
        if not bool((keys[1:] >= keys[:-1]).all()):
            found, state = np.unique(keys, return_inverse=True)
            return state.astype(np.int32), len(found)
        begins = np.zeros(len(keys), dtype=np.int32)
        begins[1:] = keys[1:] != keys[:-1]
        state = np.cumsum(begins, dtype=np.int32)
        return state.astype(np.int32, copy=False), int(state[-1]) + 1

    def _mask(self, assignor: str) -> pa.BooleanArray:
        mask = self._masks.get(assignor)
        if mask is None:
            names = self._keys["assignor"].combine_chunks()
            if isinstance(names, pa.ChunkedArray):
                names = pa.array([], pa.string()).dictionary_encode()
            number = names.dictionary.index(assignor).as_py()
            mask = self._masks[assignor] = pc.equal(names.indices, number)
        return mask

    def _piece_with(self, row: int) -> tuple[int, pa.Table]:
        if not self._pieces:
            first = 0
            for part in parts_of(self.path):
                metadata = pq.read_metadata(part)
                for group in range(metadata.num_row_groups):
                    self._pieces.append((first, part, group))
                    first += metadata.row_group(group).num_rows
        number = bisect_right(self._pieces, row, key=lambda piece: piece[0]) - 1
        first, part, group = self._pieces[number]
        if number not in self._read:
            while len(self._read) >= _MOST_PIECES:
                del self._read[next(iter(self._read))]
            with pq.ParquetFile(part) as file:
                self._read[number] = file.read_row_group(group, columns=list(_ORIGIN))
        return first, self._read[number]


@attrs.frozen(eq=False)
class PairedFigures:
    """One metric of two assignors in the states in which both have a figure.

    Args:
        rows: Position of each among the assignor's rows.
    """

    own: npt.NDArray[np.float64]
    baseline: npt.NDArray[np.float64]
    units: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class Pairs:
    """Pairs of rows of two assignors.

    Args:
        units: Number of each pair's item.
    """

    own_rows: npt.NDArray[np.int64]
    baseline_rows: npt.NDArray[np.int64]
    units: npt.NDArray[np.int64]

    def figures(self, own: pa.Array, baseline: pa.Array) -> PairedFigures:
        """The pairs in which both have a figure; the columns have a value for each row of the assignor."""
        mine = _numbers(own)[self.own_rows]
        other = _numbers(baseline)[self.baseline_rows]
        known = ~(np.isnan(mine) | np.isnan(other))
        return PairedFigures(mine[known], other[known], self.units[known], self.own_rows[known])


def pairs_of(table: ResultsTable, assignor: str, baseline: str) -> Pairs:
    """The rows of two assignors with the same item and round."""
    own, own_items = _states(table, assignor)
    other, _ = _states(table, baseline)
    if np.array_equal(own, other):  # the usual case: every assignor has every row
        everything = np.arange(len(own), dtype=np.int64)
        return Pairs(everything, everything, own_items)
    _, own_rows, baseline_rows = np.intersect1d(own, other, assume_unique=True, return_indices=True)
    return Pairs(own_rows, baseline_rows, own_items[own_rows])


def _states(table: ResultsTable, assignor: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    rows = table.rows_of(assignor)
    items = np.asarray(rows["item"].to_numpy(), dtype=np.int64)
    rounds = np.asarray(rows["round"].to_numpy(), dtype=np.int64)
    return items * _ROUNDS + rounds, items


def _numbers(column: pa.Array) -> npt.NDArray[np.float64]:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
