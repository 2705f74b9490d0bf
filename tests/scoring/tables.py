"""Small tables of results, as input of conclusions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.parquet as pq

from assignment_api.plugins import MetricPlugin
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.output.tables import results_schema
from assignor_lab.scoring.summaries.tally import LIGHT_COLUMNS, LightRow
from tests.groups.streams.states import METRICS

PLUGINS: Mapping[str, MetricPlugin] = {
    "less": attrs.evolve(METRICS["process_load_excess"], name="less"),
    "more": attrs.evolve(METRICS["tasks_kept_on_process"], name="more"),
    "neither": attrs.evolve(METRICS["warmups_in_flight"], name="neither"),
}

#: Item, round and assignor of a row, and its metrics; a text in place of these is an error.
Row = tuple[int, int, str, Mapping[str, float | None] | str]


SCHEMA = results_schema(["process_load_excess"])


def rows(first: int, count: int) -> pa.Table:
    made = [
        {
            "item": number,
            "round": 0,
            "assignor": "a" if number % 2 else "b",
            "source": 0,
            "scenario": f"s-{number}",
            "assumptions": ["one"] if number % 3 else None,
            "process_load_excess": number / 7 if number % 5 else None,
        }
        for number in range(first, first + count)
    ]
    return pa.Table.from_pylist(made, schema=SCHEMA)


def table_of(rows: Sequence[Row], folder: Path) -> ResultsTable:
    """The rows as the finished table of a run; the histories are of family ``f``, item 7 has seed 107."""
    entries = [_entry(*row) for row in sorted(rows, key=lambda row: row[:3])]
    path = folder / "table.parquet"
    pq.write_table(pa.Table.from_pylist(entries, schema=results_schema(tuple(PLUGINS))), path)
    return ResultsTable(path, tuple(dict.fromkeys(row[2] for row in rows)))


def _entry(item: int, number: int, assignor: str, figures: Mapping[str, float | None] | str) -> dict[str, Any]:
    entry = {"item": item, "round": number, "assignor": assignor, "source": 0, "scenario": f"s{item}-{number}"}
    entry |= {"family": "f", "seed": 100 + item}
    return {**entry, **({"error_type": "Boom", "error_message": figures} if isinstance(figures, str) else figures)}


def light_row(row: Mapping[str, Any]) -> LightRow:
    return LightRow(**{name: row[name] for name in LIGHT_COLUMNS if name in row})
