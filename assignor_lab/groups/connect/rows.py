"""Rows of the results, made of answers of Connect assignors."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from hashlib import blake2b
from time import perf_counter_ns
from typing import Any

from assignment_api.connect import Jobs
from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.connect.answer import ConnectAnswer
from assignor_lab.groups.connect.metrics import CONNECT_METRICS, EPISODE_METRICS
from assignor_lab.groups.rows import MAX_REMARKS, rows_schema
from assignor_lab.runtime.invocation import failure_of

__all__ = ["connect_row"]


def connect_row(answer: ConnectAnswer, plugins: Mapping[str, MetricPlugin]) -> dict[str, Any]:
    """The row of ``answer``.

    Args:
        answer: The answer.
        plugins: Column to metric, of those that plugins bring; they are asked in histories only.
    """
    start = perf_counter_ns()
    scenario, failure, decision, assignment = answer.scenario, answer.failure, answer.decision, answer.assignment
    row: dict[str, Any] = dict.fromkeys(rows_schema(()).names)
    row |= {"item": answer.item.number, "round": answer.round, "assignor": answer.assignor}
    row |= {"source": answer.item.source, "family": answer.item.family, "seed": answer.item.seed}
    if scenario is not None:
        row |= {"scenario": scenario.id, "assumptions": list(scenario.assumptions) or None}
    if failure is not None:
        row |= {"error_type": failure.type, "error_java_type": failure.java_type}
        row |= {"error_message": _encodable(failure.message)}
    if answer.size is not None:
        row |= {"clients": answer.size[0], "tasks": answer.size[1]}
    if decision is not None and assignment is not None:
        row |= {"followup": decision.followup, "answer": _digest(decision.after)}
        row |= {"remarks": [_encodable(remark) for remark in assignment.remarks[:MAX_REMARKS]] or None}
        row |= {metric.name: _number(metric.compute(decision)) for metric in CONNECT_METRICS}
        row |= _plugins_figures(answer, plugins)
    if answer.played is not None:
        row |= {metric.name: _number(metric.compute(answer.played)) for metric in EPISODE_METRICS}
    row["assign_ms"] = answer.assign_ns / 1e6 if answer.assign_ns else None
    row["metrics_ms"] = (answer.other_ns + perf_counter_ns() - start) / 1e6
    return row


def _plugins_figures(answer: ConnectAnswer, plugins: Mapping[str, MetricPlugin]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    errors: list[str] = []
    for name, plugin in plugins.items():
        try:
            figures[name] = _number(plugin.compute(answer.rebalance, answer.assignment))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a metric is a plugin and may raise anything
            failure = failure_of(error)
            figures[name] = None
            errors.append(_encodable(f"{name}: {failure.type}: {failure.message}"))
    return {**figures, "metric_errors": errors or None}


def _number(figure: float | None) -> float | None:
    if figure is not None and not math.isfinite(figure):
        raise ValueError(f"{figure} is no figure that can be compared: return a finite number, or None for unknown")
    return None if figure is None else float(figure)


def _encodable(text: str) -> str:
    """Arrow takes no halves of surrogate pairs, which a plugin's message may well hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _digest(after: Mapping[str, Jobs]) -> str:
    """16 hex digits that stand for who runs what, in whatever order."""
    digest = blake2b(digest_size=8)
    for member, jobs in sorted(after.items()):
        line = [member, sorted(jobs.connectors), sorted(map(str, jobs.tasks))]
        digest.update(json.dumps(line).encode())
    return digest.hexdigest()
