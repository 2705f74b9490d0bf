"""The columns of the two tables, format 1, as plain data: their names, types and order.

``results`` holds what follows from input, seed and plugins alone; ``run_metrics`` what differs from run to run. Both
are keyed and sorted by ``item``, ``round``, ``assignor``. Docs: "Scoring", section "The tables".
"""

from __future__ import annotations

from typing import Literal

import attrs

__all__ = [
    "ANSWER",
    "FORMAT",
    "KEYS",
    "OF_ASSIGNOR",
    "OF_FAMILY",
    "OF_SCENARIO",
    "PROBES",
    "RAW",
    "STATE",
    "TIMES",
    "Column",
    "column_names",
]

#: Version of both tables; columns are added within a version, never renamed or removed.
FORMAT = 1

#: Values of ``error_origin``: the assignor failed, or the family or the scenario gave no state to answer.
OF_ASSIGNOR, OF_FAMILY, OF_SCENARIO = "assignor", "family", "scenario"


@attrs.frozen
class Column:
    """A column of a table.

    Args:
        name: Its name.
        type: Type of its values; ``strings`` is a list of texts.
        required: Whether every row has a value.
    """

    name: str
    type: Literal["int64", "int32", "double", "bool", "string", "strings"]
    required: bool = False


#: What identifies a row, and the order in which rows are sorted.
KEYS = (Column("item", "int64", True), Column("round", "int32", True), Column("assignor", "string", True))
STATE = (
    Column("source", "int32", True),
    Column("scenario", "string"),
    Column("family", "string"),
    Column("seed", "int64"),
    Column("time_ms", "int64"),
    Column("clients", "int32"),
    Column("tasks", "int32"),
    Column("stateful_tasks", "int32"),
)
ANSWER = (
    Column("error_type", "string"),
    Column("error_java_type", "string"),
    Column("error_message", "string"),
    Column("error_origin", "string"),
    Column("error_traceback", "string"),
    Column("validation", "string"),
    Column("findings", "int32"),
    Column("followup", "bool"),
    Column("answer", "string"),
    Column("equals_observed", "bool"),
    Column("racks_unknown", "bool"),
    Column("not_comparable", "string"),
    Column("other_settings", "bool"),
    Column("assumptions", "strings"),
    Column("remarks", "strings"),
    Column("metric_errors", "strings"),
)
TIMES = (Column("assign_ms", "double"), Column("build_ms", "double"), Column("metrics_ms", "double"))
PROBES = (
    Column("peak_memory_bytes", "int64"),
    Column("same_again", "bool"),
    Column("same_hash_seed", "bool"),
    Column("same_order", "bool"),
    Column("pure", "bool"),
)
#: The answer itself as JSON (:meth:`assignor_lab.groups.kind.Kind.document`), where it is kept on request.
RAW = (Column("raw_answer", "string"),)


def column_names() -> frozenset[str]:
    """Names that no metric may take without its distribution before them."""
    return frozenset(column.name for column in (*KEYS, *STATE, *ANSWER, *TIMES, *PROBES, *RAW))
