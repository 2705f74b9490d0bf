"""The columns of the two tables, format 2, as plain data: their names, types and order.

``results`` follows from input, seed and plugins alone; ``run_metrics`` differs from run to run. Both are keyed and
sorted by ``item``, ``round``, ``assignor``. Docs: "Scoring", section "The tables".
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Literal

import attrs

__all__ = [
    "ANSWER",
    "FORMAT",
    "KEYS",
    "OF_ASSIGNOR",
    "OF_FAMILY",
    "OF_SCENARIO",
    "OTHER_FORMAT",
    "PROBES",
    "RAW",
    "RENAMED",
    "STATE",
    "TIMES",
    "TableColumn",
    "column_names",
    "suggested_name",
]

#: Version of both tables; columns are added within a version, never renamed or removed.
FORMAT = 2
#: Remedy for a file of another version.
OTHER_FORMAT = "score again, or use the release that wrote it"

#: Names of format 1 to those of format 2: columns, then metrics.
RENAMED = {
    "answer": "answer_digest",
    "findings": "finding_count",
    "other_settings": "settings_difference",
    "same_again": "deterministic",
    "longest_restore": "longest_restore_seconds",
    "process_load": "process_load_excess",
    **{
        name: f"{name}_range"
        for name in (
            *(f"{kind}_tasks_per_member" for kind in ("active", "stateful", "stateless", "standby", "total")),
            *(f"{kind}_tasks_per_thread" for kind in ("active", "stateful", "stateless", "total")),
            "standby_load_per_process",
            "active_weight_per_thread",
            "jobs_per_worker",
            "tasks_of_connector_per_worker",
            "final_tasks_per_worker",
            "final_tasks_of_connector_per_worker",
        )
    },
}

#: Values of ``error_origin``: the assignor failed, or the family or the scenario gave no state.
OF_ASSIGNOR, OF_FAMILY, OF_SCENARIO = "assignor", "family", "scenario"


@attrs.frozen
class TableColumn:
    """A column of a table.

    Args:
        required: True if every row has a value.
    """

    name: str
    type: Literal["int64", "int32", "double", "bool", "string", "strings"]
    required: bool = False


#: Key of a row, and order of the rows.
KEYS = (
    TableColumn("item", "int64", True),
    TableColumn("round", "int32", True),
    TableColumn("assignor", "string", True),
)
STATE = (
    TableColumn("source", "int32", True),
    TableColumn("scenario", "string"),
    TableColumn("family", "string"),
    TableColumn("seed", "int64"),
    TableColumn("time_ms", "int64"),
    TableColumn("clients", "int32"),
    TableColumn("tasks", "int32"),
    TableColumn("stateful_tasks", "int32"),
)
ANSWER = (
    TableColumn("error_type", "string"),
    TableColumn("error_java_type", "string"),
    TableColumn("error_message", "string"),
    TableColumn("error_origin", "string"),
    TableColumn("error_traceback", "string"),
    TableColumn("validation", "string"),
    TableColumn("finding_count", "int32"),
    TableColumn("followup", "bool"),
    TableColumn("answer_digest", "string"),
    TableColumn("equals_observed", "bool"),
    TableColumn("racks_unknown", "bool"),
    TableColumn("not_comparable", "string"),
    TableColumn("settings_difference", "bool"),
    TableColumn("assumptions", "strings"),
    TableColumn("remarks", "strings"),
    TableColumn("metric_errors", "strings"),
)
TIMES = tuple(TableColumn(name, "double") for name in ("assign_ms", "assign_wall_ms", "build_ms", "metrics_ms"))
PROBES = (
    TableColumn("peak_memory_bytes", "int64"),
    TableColumn("deterministic", "bool"),
    TableColumn("same_hash_seed", "bool"),
    TableColumn("same_order", "bool"),
    TableColumn("pure", "bool"),
)
#: The answer itself as JSON (:meth:`assignor_lab.groups.kind.GroupKind.document`), kept on request.
RAW = (TableColumn("raw_answer", "string"),)


def column_names() -> frozenset[str]:
    """Names that a metric may use only with its distribution before them."""
    return frozenset(column.name for column in (*KEYS, *STATE, *ANSWER, *TIMES, *PROBES, *RAW))


def suggested_name(name: str, known: Sequence[str]) -> str | None:
    """The name in ``known`` that an unknown one stands for: its new name, else the closest one."""
    if (renamed := RENAMED.get(name)) in known:
        return renamed
    return next(iter(get_close_matches(name, known, 1)), None)
