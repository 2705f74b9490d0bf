"""The Arrow schemas of the two tables, format 1 (:mod:`assignor_lab.groups.columns`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from assignor_lab.groups.columns import ANSWER, FORMAT, KEYS, PROBES, RAW, STATE, TIMES, Column

__all__ = ["KEY_NAMES", "answers_schema", "results_schema", "rows_schema", "run_metrics_schema"]

#: What identifies a row, and the order in which rows are sorted.
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


def results_schema(metrics: Sequence[str], columns: Sequence[Column] = ()) -> pa.Schema:
    """The table ``results``: keys, the state, the answer, then a column of doubles for each metric.

    Args:
        metrics: Names of the metrics.
        columns: Further columns of a kind of group, after those of the answer.
    """
    measured = tuple(Column(name, "double") for name in metrics)
    fields = _fields((*KEYS, *STATE, *ANSWER, *columns, *measured))
    return pa.schema(fields, {b"assignor_lab.results": str(FORMAT).encode()})


def run_metrics_schema() -> pa.Schema:
    """The table ``run_metrics``: keys, times in milliseconds, and what was found where the assignor was asked again."""
    return pa.schema(_fields((*KEYS, *TIMES, *PROBES)), {b"assignor_lab.run_metrics": str(FORMAT).encode()})


def answers_schema() -> pa.Schema:
    """The table ``answers``: keys, the scenario's name, and the answer itself as JSON; null where there is none."""
    return pa.schema(_fields((*KEYS, _SCENARIO, *RAW)), {b"assignor_lab.answers": str(FORMAT).encode()})


def rows_schema(metrics: Sequence[str], columns: Sequence[Column] = (), *, raw: bool = False) -> pa.Schema:
    """All tables side by side, as those who score send them; arguments as for :func:`results_schema`.

    Args:
        metrics: Names of the metrics.
        columns: Further columns of a kind of group.
        raw: Whether the answers themselves are among the columns.
    """
    return pa.schema((*results_schema(metrics, columns), *_fields((*TIMES, *PROBES, *(RAW if raw else ())))))


def _fields(columns: Iterable[Column]) -> tuple[pa.Field, ...]:
    return tuple(pa.field(column.name, _TYPES[column.type], nullable=not column.required) for column in columns)
