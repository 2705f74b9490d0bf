"""The tables as Parquet: a file, or a folder of part files of a bounded number of rows, in order.

Settings and the sizes of row groups and parts are fixed, independent of the batches of the rows: equal rows are equal
bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.columns import ANSWER, FORMAT, KEYS, PROBES, RAW, STATE, TIMES, TableColumn

__all__ = [
    "BLOCK",
    "KEY_NAMES",
    "TableWriter",
    "answers_file",
    "answers_schema",
    "block_schema",
    "described_schema",
    "digest_of",
    "parts_of",
    "results_file",
    "results_schema",
    "rows_schema",
    "run_metrics_file",
    "run_metrics_schema",
]

#: Columns that identify a row, in sort order.
KEY_NAMES = tuple(column.name for column in KEYS)

_SCENARIO = next(column for column in STATE if column.name == "scenario")
_TYPES = {
    "int64": pa.int64(),
    "int32": pa.int32(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "strings": pa.list_(pa.string()),
}


def results_schema(metrics: Sequence[str], columns: Sequence[TableColumn] = ()) -> pa.Schema:
    """The table ``results``: keys, the state, the answer, then a column of doubles for each metric."""
    measured = tuple(TableColumn(name, "double") for name in metrics)
    fields = _fields((*KEYS, *STATE, *ANSWER, *columns, *measured))
    return pa.schema(fields, {b"assignor_lab.results": str(FORMAT).encode()})


def run_metrics_schema() -> pa.Schema:
    """The table ``run_metrics``: keys, times in milliseconds, and results of repeated calls of the assignor."""
    return pa.schema(_fields((*KEYS, *TIMES, *PROBES)), {b"assignor_lab.run_metrics": str(FORMAT).encode()})


def answers_schema() -> pa.Schema:
    """The table ``answers``: keys, the scenario's name, and the answer itself as JSON; null without one."""
    return pa.schema(_fields((*KEYS, _SCENARIO, *RAW)), {b"assignor_lab.answers": str(FORMAT).encode()})


def rows_schema(metrics: Sequence[str], columns: Sequence[TableColumn] = (), *, raw: bool = False) -> pa.Schema:
    """All tables side by side, as scorers send them; arguments as for :func:`results_schema`."""
    return pa.schema((*results_schema(metrics, columns), *_fields((*TIMES, *PROBES, *(RAW if raw else ())))))


#: Column with the number of a row's block.
BLOCK = "block"


def block_schema(schema: pa.Schema) -> pa.Schema:
    """``schema`` with the number of a row's block before its columns."""
    return pa.schema([pa.field(BLOCK, pa.int64(), nullable=False), *schema])


def _fields(columns: Iterable[TableColumn]) -> tuple[pa.Field, ...]:
    return tuple(pa.field(column.name, _TYPES[column.type], nullable=not column.required) for column in columns)


ROW_GROUP_ROWS = 16_384
#: Rows of every part but the last.
PART_ROWS = 16 * ROW_GROUP_ROWS
_PART = "part-{:05}.parquet"
_SORTED_BY = b"assignor_lab.sorted_by"


def parts_of(table: Path) -> list[Path]:
    """The files of a table, in the order of its rows."""
    return sorted(table.glob("part-*.parquet")) if table.is_dir() else [table]


def digest_of(table: Path) -> str:
    """SHA-256 (hex) of a table: of its file, or of its part files in sequence."""
    digest = sha256()
    for part in parts_of(table):
        with part.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    return digest.hexdigest()


def described_schema(schema: pa.Schema, metrics: Mapping[str, MetricPlugin]) -> pa.Schema:
    """``schema`` with metadata for readers of the files: the sort order, and a description of each metric."""
    fields = [
        field.with_metadata(
            {"unit": metric.unit, "direction": metric.direction, "group": metric.group, "summary": metric.summary}
        )
        if (metric := metrics.get(field.name)) is not None
        else field
        for field in schema
    ]
    return pa.schema(fields, {**(schema.metadata or {}), _SORTED_BY: ",".join(KEY_NAMES).encode()})


class TableWriter:
    """One table: a file if one holds it, which any reader opens, or a folder of part files."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        # Readers must not take the growing folder for a table.
        self._folder = path.with_name(f".{path.name}.parts")
        self._folder.mkdir(parents=True)
        self._schema = schema
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self._parts = 0
        self._written = 0
        self._writer = self._next_part()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._write(self._rows)
        self._writer.close()
        if kind is not None:
            return
        if self._parts > 1:
            self._folder.rename(self._path)
        else:
            (self._folder / _PART.format(0)).rename(self._path)
            self._folder.rmdir()

    def write(self, table: pa.Table) -> None:
        self._waiting.append(table.select(self._schema.names).cast(self._schema))
        self._rows += table.num_rows
        if self._rows >= ROW_GROUP_ROWS:
            self._write(self._rows // ROW_GROUP_ROWS * ROW_GROUP_ROWS)

    def _write(self, rows: int) -> None:
        waiting = pa.concat_tables(self._waiting) if self._waiting else self._schema.empty_table()
        for start in range(0, rows, ROW_GROUP_ROWS):
            group = waiting.slice(start, min(ROW_GROUP_ROWS, rows - start))
            if self._written == PART_ROWS:
                self._writer.close()
                self._writer = self._next_part()
            # The file must not depend on the number and the ends of batches.
            self._writer.write_table(group.combine_chunks(), row_group_size=ROW_GROUP_ROWS)
            self._written += group.num_rows
        self._waiting = [waiting.slice(rows)]
        self._rows -= rows

    def _next_part(self) -> pq.ParquetWriter:
        path = self._folder / _PART.format(self._parts)
        self._parts += 1
        self._written = 0
        return pq.ParquetWriter(
            path,
            self._schema,
            version="2.6",
            compression="zstd",
            compression_level=3,
            use_dictionary=[field.name for field in self._schema if pa.types.is_string(field.type)],
            write_statistics=True,
            data_page_version="1.0",
        )


def results_file(metrics: Mapping[str, MetricPlugin], columns: Sequence[TableColumn] = ()) -> pa.Schema:
    """The table ``results`` as written; ``columns`` are those of a kind of group alone."""
    return described_schema(results_schema(tuple(metrics), columns), metrics)


def run_metrics_file() -> pa.Schema:
    return described_schema(run_metrics_schema(), {})


def answers_file() -> pa.Schema:
    return described_schema(answers_schema(), {})
