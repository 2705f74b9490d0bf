"""A table counted by many states at a time has the same counts as one counted row by row."""

from __future__ import annotations

from math import fsum
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assignor_lab.groups.work import OBSERVED
from assignor_lab.scoring.output.tables import results_schema
from assignor_lab.scoring.statistics.sums import exact_sum
from assignor_lab.scoring.summaries import tally_table
from assignor_lab.scoring.summaries.tally import take_tally
from assignor_lab.scoring.summaries.tally_table import tally_of
from tests.scoring.tables import light_row

SCHEMA = results_schema([])


def table() -> pa.Table:
    """120 states in two sources, three rows each; some failed, some are compared with Kafka's own decision."""
    rows = []
    for item in range(40):
        for number in range(3):
            for assignor in ("a", "b", OBSERVED if item % 11 == 5 else "c"):
                odd = {"error_type": "Boom", "error_message": "no"} if (item, assignor) in ((7, "a"), (23, "b")) else {}
                known = {"equals_observed": assignor == "a"} if item % 11 == 5 and assignor != OBSERVED else {}
                told = {"assumptions": ["one"]} if item == 31 else {}
                head = {
                    "item": item,
                    "round": number,
                    "assignor": assignor,
                    "source": item // 25,
                    "scenario": f"s{item}",
                }
                rows.append({**head, **odd, **known, **told})
    return pa.Table.from_pylist(rows, schema=SCHEMA)


@pytest.mark.parametrize("rows_at_a_time", [1, 2, 7, 9, 1000])
def test_states_are_counted_whole_wherever_the_file_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_at_a_time: int
) -> None:
    pq.write_table(table(), tmp_path / "table.parquet", row_group_size=50)
    monkeypatch.setattr(tally_table, "BATCH_ROWS", rows_at_a_time)
    assert tally_of(tmp_path / "table.parquet") == take_tally([light_row(row) for row in table().to_pylist()])


def test_of_no_rows_nothing_is_counted(tmp_path: Path) -> None:
    pq.write_table(SCHEMA.empty_table(), tmp_path / "table.parquet")
    assert tally_of(tmp_path / "table.parquet").states == 0


@pytest.mark.parametrize(
    "values",
    [[], [0.1] * 10, [1e308, 1.0, -1e308], [3.0, -7.0, 2.0**52], [2.0**53, 1.0, 1.0], [0.5, 1e-300, -0.5]],
)
def test_sums_are_rounded_once(values: list[float]) -> None:
    assert exact_sum(np.array(values, dtype=np.float64)) == fsum(values)
