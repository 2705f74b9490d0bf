"""Counts over a finished table of results, piece by piece.

Nearly every state has answers without remarks: such states are counted many at a time, all others one by one
(:mod:`assignor_lab.scoring.summaries.tally`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from assignor_lab.groups.work import OBSERVED
from assignor_lab.scoring.output.tables import parts_of
from assignor_lab.scoring.summaries.tally import LIGHT_COLUMNS, LightRow, Tally, add_states

__all__ = ["tally_of"]

#: Rows that are read at a time.
BATCH_ROWS = 16_384
#: Columns that are null in a state without remarks.
_SILENT = ("error_type", "equals_observed", "not_comparable", "assumptions", "metric_errors")


def tally_of(table: Path) -> Tally:
    """Counts over a table whose rows are sorted by item and round."""
    tally = Tally()
    for states in _whole_states(table):
        if _is_plain(states):
            _add_plain(tally, states)
        else:
            add_states(tally, _light(states))
    return tally


def _light(rows: pa.Table) -> Iterator[LightRow]:
    columns = (rows.column(name).to_pylist() for name in LIGHT_COLUMNS)
    return starmap(LightRow, zip(*columns, strict=True))


def _whole_states(table: Path) -> Iterator[pa.Table]:
    """The rows, a few thousand at a time, so that no state is split."""
    held: pa.Table | None = None
    for part in parts_of(table):
        with pq.ParquetFile(part) as file:
            for batch in file.iter_batches(columns=list(LIGHT_COLUMNS), batch_size=BATCH_ROWS):
                rows = pa.Table.from_batches([batch])
                rows = rows if held is None else pa.concat_tables([held, rows])
                items, rounds = _keys(rows)
                last = (items == items[-1]) & (rounds == rounds[-1])
                begin = int(last.argmax())
                if begin:
                    yield rows.slice(0, begin)
                held = rows.slice(begin)
    if held is not None and held.num_rows:
        yield held


def _is_plain(rows: pa.Table) -> bool:
    silent = all(rows[name].null_count == rows.num_rows for name in _SILENT)
    return silent and not pc.any(pc.equal(rows["assignor"], OBSERVED)).as_py()


def _add_plain(tally: Tally, rows: pa.Table) -> None:
    items, rounds = _keys(rows)
    begins = np.ones(len(items), dtype=bool)
    begins[1:] = (items[1:] != items[:-1]) | (rounds[1:] != rounds[:-1])
    sources, states = np.unique(rows["source"].to_numpy()[begins], return_counts=True)
    names = {entry["values"]: entry["counts"] for entry in pc.value_counts(rows["assignor"]).to_pylist()}
    tally.add_plain(dict(zip(sources.tolist(), states.tolist(), strict=True)), names)


def _keys(rows: pa.Table) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    items, rounds = (rows.column(name).to_numpy() for name in ("item", "round"))
    return items, rounds
