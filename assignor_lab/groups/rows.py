"""Answers as rows of the two tables, and the schema of both, format 1.

``results`` holds what follows from input, seed and plugins alone; ``run_metrics`` what differs from run to run. Both
are keyed and sorted by ``item``, ``round``, ``assignor``. Docs: "Scoring", section "The tables".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from time import perf_counter_ns
from typing import Any

import pyarrow as pa

from assignment_api import ApplicationMetadata, TaskAssignment
from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.streams.contest import OBSERVED, Answer, observed_assignment
from assignor_lab.groups.streams.placement import state_of
from assignor_lab.runtime.invocation import MESSAGE_LIMIT, failure_of

__all__ = ["FORMAT", "KEYS", "RowMaker", "equals_observed", "results_schema", "rows_schema", "run_metrics_schema"]

#: Version of both tables; columns are added within a version, never renamed or removed.
FORMAT = 1

#: Remarks that are kept of an answer.
MAX_REMARKS = 20

#: What identifies a row, and the order in which rows are sorted.
KEYS = ("item", "round", "assignor")

_KEY_FIELDS = (
    pa.field("item", pa.int64(), nullable=False),
    pa.field("round", pa.int32(), nullable=False),
    pa.field("assignor", pa.string(), nullable=False),
)
_STATE_FIELDS = (
    pa.field("source", pa.int32(), nullable=False),
    pa.field("scenario", pa.string()),
    pa.field("family", pa.string()),
    pa.field("seed", pa.int64()),
    pa.field("clients", pa.int32()),
    pa.field("tasks", pa.int32()),
    pa.field("stateful_tasks", pa.int32()),
)
_ANSWER_FIELDS = (
    pa.field("error_type", pa.string()),
    pa.field("error_java_type", pa.string()),
    pa.field("error_message", pa.string()),
    pa.field("validation", pa.string()),
    pa.field("findings", pa.int32()),
    pa.field("followup", pa.bool_()),
    pa.field("answer", pa.string()),
    pa.field("equals_observed", pa.bool_()),
    pa.field("racks_unknown", pa.bool_()),
    pa.field("assumptions", pa.list_(pa.string())),
    pa.field("remarks", pa.list_(pa.string())),
    pa.field("metric_errors", pa.list_(pa.string())),
)
_TIME_FIELDS = (
    pa.field("assign_ms", pa.float64()),
    pa.field("build_ms", pa.float64()),
    pa.field("metrics_ms", pa.float64()),
)
_PROBE_FIELDS = (
    pa.field("peak_memory_bytes", pa.int64()),
    pa.field("same_again", pa.bool_()),
    pa.field("same_hash_seed", pa.bool_()),
    pa.field("same_order", pa.bool_()),
    pa.field("pure", pa.bool_()),
)


def results_schema(metrics: Sequence[str]) -> pa.Schema:
    """The table ``results``: keys, the state, the answer, then a column of doubles for each metric."""
    columns = tuple(pa.field(name, pa.float64()) for name in metrics)
    return pa.schema(
        (*_KEY_FIELDS, *_STATE_FIELDS, *_ANSWER_FIELDS, *columns), {b"assignor_lab.results": str(FORMAT).encode()}
    )


def run_metrics_schema() -> pa.Schema:
    """The table ``run_metrics``: keys, times in milliseconds, and what was found where the assignor was asked again."""
    return pa.schema((*_KEY_FIELDS, *_TIME_FIELDS, *_PROBE_FIELDS), {b"assignor_lab.run_metrics": str(FORMAT).encode()})


def rows_schema(metrics: Sequence[str]) -> pa.Schema:
    """Both tables side by side, as executors send them."""
    return pa.schema((*results_schema(metrics), *_TIME_FIELDS, *_PROBE_FIELDS))


class RowMaker:
    """Turns answers into rows, computing the metrics on the way.

    Args:
        metrics: Name of the column to metric.
    """

    __slots__ = ("_metrics",)

    def __init__(self, metrics: Mapping[str, MetricPlugin]) -> None:
        self._metrics = tuple(metrics.items())

    def row(self, answer: Answer) -> dict[str, Any]:
        """The row of ``answer``, with an entry for every column."""
        start = perf_counter_ns()
        outcome, scenario, application = answer.outcome, answer.scenario, answer.application
        figures, metric_errors = self._figures(application, outcome.assignment)
        failure = outcome.failure
        row: dict[str, Any] = {
            "item": answer.item.number,
            "round": answer.round,
            "assignor": answer.assignor,
            "source": answer.item.source,
            "scenario": None if scenario is None else scenario.id,
            "family": answer.item.family,
            "seed": answer.item.seed,
            **_size_of(application),
            "error_type": None if failure is None else failure.type,
            "error_java_type": None if failure is None else failure.java_type,
            "error_message": None if failure is None else _encodable(failure.message),
            "validation": outcome.validation.name,
            "findings": None if outcome.assignment is None else len(outcome.findings),
            "followup": answer.followup,
            "answer": None if outcome.assignment is None else _digest(outcome.assignment),
            "equals_observed": equals_observed(answer),
            "racks_unknown": None if application is None else _racks_unknown(application),
            "assumptions": None if scenario is None or not scenario.assumptions else list(scenario.assumptions),
            "remarks": _remarks_of(outcome.assignment),
            "metric_errors": metric_errors or None,
            **figures,
            "assign_ms": outcome.assign_ns / 1e6 if outcome.assign_ns else None,
            "build_ms": answer.build_ns / 1e6,
        }
        row["metrics_ms"] = (perf_counter_ns() - start) / 1e6
        return row

    def _figures(
        self, application: ApplicationMetadata | None, assignment: TaskAssignment | None
    ) -> tuple[dict[str, float | None], list[str]]:
        if application is None or assignment is None:
            return {name: None for name, _ in self._metrics}, []
        figures: dict[str, float | None] = {}
        errors: list[str] = []
        for name, plugin in self._metrics:
            try:
                figure = plugin.compute(application, assignment)
                figures[name] = None if figure is None else _finite(float(figure))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a metric is a plugin and may raise anything
                failure = failure_of(error)
                figures[name] = None
                errors.append(_encodable(f"{name}: {failure.type}: {failure.message}"))
        return figures, errors


def _finite(figure: float) -> float:
    if not math.isfinite(figure):
        raise ValueError(f"{figure} is no figure that can be compared: return a finite number, or None for unknown")
    return figure


def _size_of(application: ApplicationMetadata | None) -> dict[str, int | None]:
    if application is None:
        return {"clients": None, "tasks": None, "stateful_tasks": None}
    return {
        "clients": len(application.streams_client_states()),
        "tasks": len(application.all_tasks()),
        "stateful_tasks": len(application.stateful_tasks()),
    }


def _remarks_of(assignment: TaskAssignment | None) -> list[str] | None:
    remarks = () if assignment is None else assignment.remarks
    return [_encodable(str(remark)[:MESSAGE_LIMIT]) for remark in remarks[:MAX_REMARKS]] or None


def _encodable(text: str) -> str:
    """Arrow takes no halves of surrogate pairs, which a plugin's message may well hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _tasks_by_client(assignment: TaskAssignment) -> list[tuple[str, list[str], list[str]]]:
    """Process, active and standby tasks of every client that has any, in a fixed order."""
    clients = {str(client.process_id): client for client in assignment.assignments}
    return [
        (process, sorted(map(str, client.active_tasks())), sorted(map(str, client.standby_tasks())))
        for process, client in sorted(clients.items())
        if client.tasks
    ]


def _digest(assignment: TaskAssignment) -> str:
    """16 hex digits that stand for who runs what: equal for equal answers, in whatever order they were given."""
    digest = blake2b(digest_size=8)
    for process, active, standby in _tasks_by_client(assignment):
        digest.update(f"{process}|{','.join(active)}|{','.join(standby)}\n".encode())
    return digest.hexdigest()


def equals_observed(answer: Answer) -> bool | None:
    """Whether an answer is Kafka's own: the tasks of every client, and the follow-up where it is known."""
    observed = answer.scenario.observed if answer.scenario is not None else None
    assignment = answer.outcome.assignment
    if observed is None or assignment is None or answer.assignor == OBSERVED:
        return None
    if observed.get("followup") is not None and observed["followup"] != answer.followup:
        return False
    return _tasks_by_client(assignment) == _tasks_by_client(observed_assignment(observed))


def _racks_unknown(application: ApplicationMetadata) -> bool:
    """Whether racks matter in this state and its source did not tell them: a log line names no partitions."""
    if application.assignment_configs().rack_aware_assignment_strategy == "none":
        return False
    return not state_of(application).topology.partitions_known
