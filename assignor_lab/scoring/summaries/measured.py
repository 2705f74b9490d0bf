"""Figures of a finished table: single metrics on any worker that sees it, and figures over several metrics.

The driver holds no row of a large run. A measuring process holds the keys of rows, some 25 bytes for each, and one
column of figures at a time; so metrics are distributed over all workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.metrics.headline import HeadlineFigure
from assignor_lab.groups.work import OBSERVED
from assignor_lab.scoring.engine.engine import Engine
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.summaries.evaluation import evaluated, gates_judged
from assignor_lab.scoring.summaries.figures import (
    MAX_PLACEMENTS,
    MAX_WORST,
    Figures,
    aggregates,
    assign_times,
    first_states,
    places_by_metric,
    probe_counts,
    ranked_by,
    worst_states,
)
from assignor_lab.scoring.summaries.headline import headline
from assignor_lab.scoring.terms import EvaluationTerms

__all__ = ["RequestedFigures", "measured"]

#: Up to this many rows, distribution takes longer than the work.
HERE_ROWS = 32_768


@attrs.frozen
class RequestedFigures:
    """The requested measurements.

    Args:
        terms: Baseline, gates, and the command that shows a state again.
    """

    results: Path
    run_metrics: Path
    assignors: tuple[str, ...]
    ranked: tuple[str, ...]
    metrics: Mapping[str, MetricPlugin]
    headline: tuple[HeadlineFigure, ...]
    terms: EvaluationTerms


def measured(requested: RequestedFigures, engine: Engine, rows: int, seen: Path) -> Figures:
    """The figures of a table.

    Raises:
        JobFailedError: if the engine aborted.
        OSError: if the tables cannot be read.
    """
    # The metric's code has run, and need not be sent.
    plain = attrs.evolve(
        requested, metrics={name: attrs.evolve(plugin, compute=_computed) for name, plugin in requested.metrics.items()}
    )
    hands = 1 if rows <= HERE_ROWS else max(engine.cores or 1, 1)
    names = list(plain.metrics)
    dealt = [names[first::hands] for first in range(max(min(hands, len(names)), 1))]
    questions: list[_Question] = [_Together(plain), *(_OfMetrics(plain, tuple(some)) for some in dealt)]
    if rows <= HERE_ROWS:
        together, *found = map(_answered, questions)
    else:
        together, *found = engine.mapped(_answered, questions, seen)
    return _put_together(requested, together, found)


# --- distributed work -----------------------------------------------------------------------------


def _computed(*_asked: Any) -> NoReturn:
    raise AssertionError("the figures are in the table")


class _Question(Protocol):
    def answer(self) -> dict[str, Any]: ...


def _answered(question: _Question) -> dict[str, Any]:
    return question.answer()


@attrs.frozen
class _OfMetrics:
    """Measurements of single metrics."""

    asked: RequestedFigures
    names: tuple[str, ...]

    def answer(self) -> dict[str, Any]:
        requested = self.asked
        table = ResultsTable(requested.results, requested.assignors)
        metrics = {name: requested.metrics[name] for name in self.names}
        return {
            "aggregates": aggregates(table, metrics),
            "by_metric": places_by_metric(table, requested.ranked, metrics)[1],
            "worst": _worst(table, metrics),
            "evaluation": evaluated(table, metrics, requested.terms, len(requested.metrics)),
        }


@attrs.frozen
class _Together:
    asked: RequestedFigures

    def answer(self) -> dict[str, Any]:
        requested = self.asked
        table = ResultsTable(requested.results, requested.assignors)
        found = headline(table, requested.ranked, requested.headline, requested.metrics, requested.terms.baseline)
        captured = (
            table.rows_of(OBSERVED)["item"] if OBSERVED in requested.assignors else pa.chunked_array([], pa.int64())
        )
        return {
            "headline": found.document,
            "places": dict(found.places),
            "states": places_by_metric(table, requested.ranked, {})[0],
            "gates": gates_judged(table, requested.terms),
            "captured": captured.slice(0, MAX_PLACEMENTS).to_pylist(),
            "more_captured": max(len(captured) - MAX_PLACEMENTS, 0),
            "first": first_states(table, MAX_WORST),
            "assign_ms": assign_times(requested.run_metrics, requested.assignors),
            "probes": probe_counts(requested.run_metrics, requested.assignors),
        }


def _worst(table: ResultsTable, metrics: Mapping[str, MetricPlugin]) -> list[list[Any]]:
    """Metric, item, round, assignor, and true if the state is a captured one."""
    captured = table.rows_of(OBSERVED)["item"] if OBSERVED in table.assignors else None
    found: list[list[Any]] = []
    for metric, plugin in metrics.items():
        for item, number, assignor in worst_states(table, {metric: plugin}, 1):
            known = captured is not None and number == 0 and pc.index(captured, item).as_py() >= 0
            found.append([metric, item, number, assignor, known])
    return found


# --- results combined -----------------------------------------------------------------------------


def _put_together(
    requested: RequestedFigures, together: Mapping[str, Any], found: Sequence[Mapping[str, Any]]
) -> Figures:
    by_metric = _by_metric(requested, (entry for each in found for entry in each["by_metric"]))
    places = requested.metrics, together["places"]
    evaluations = [each["evaluation"] for each in found]
    by_place = _place(requested.metrics, lambda entry: entry[0])
    worst = sorted((entry for each in found for entry in each["worst"]), key=by_place)
    return Figures(
        aggregates=_by_assignor(requested, (entry for each in found for entry in each["aggregates"])),
        headline=together["headline"],
        ranking=ranked_by(together["states"], by_metric, requested.ranked, *places),
        evaluation=_evaluation(requested, evaluations, together["gates"]),
        assign_ms=together["assign_ms"],
        probes=together["probes"],
        captured=together["captured"],
        more_captured=together["more_captured"],
        worst=[(item, number, assignor, known) for _, item, number, assignor, known in worst],
        first=[(item, number) for item, number in together["first"]],
    )


def _evaluation(
    requested: RequestedFigures, found: Sequence[Mapping[str, Any]], gates: list[dict[str, Any]]
) -> dict[str, Any]:
    cut = [each["slices"] for each in found]
    return {
        "baseline": requested.terms.baseline,
        "distributions": {
            "levels": found[0]["distributions"]["levels"],
            "of": _by_assignor(requested, (entry for each in found for entry in each["distributions"]["of"])),
        },
        "differences": _by_assignor(requested, (entry for each in found for entry in each["differences"])),
        "worst_cases": _by_assignor(requested, (entry for each in found for entry in each["worst_cases"])),
        "slices": {
            **cut[0],
            **{
                name: _by_metric(requested, (entry for each in cut for entry in each[name]))
                for name in ("bins", "figures", "differences")
            },
        },
        "gates": gates,
    }


def _by_metric(requested: RequestedFigures, entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(entries, key=_place(requested.metrics, lambda entry: entry["metric"]))


def _by_assignor(requested: RequestedFigures, entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(_by_metric(requested, entries), key=_place(requested.assignors, lambda entry: entry["assignor"]))


def _place(order: Iterable[str], name: Callable[[Any], str]) -> Callable[[Any], int]:
    places = {each: place for place, each in enumerate(order)}
    return lambda entry: places[name(entry)]
