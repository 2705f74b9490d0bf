"""Figures of a finished table: metric by metric, by whoever sees it, and what takes several of them at once.

The driver holds no row of a large run. Whoever measures holds what tells rows apart, some 25 bytes for each, and one
column of figures at a time; so metrics are dealt out to as many as there are to work on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.headline import HeadlineFigure
from assignor_lab.groups.work import OBSERVED
from assignor_lab.scoring.comparison import Terms
from assignor_lab.scoring.engine import Engine
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.summaries.evaluation import evaluated, gates_judged
from assignor_lab.scoring.summaries.figures import (
    aggregates,
    assign_times,
    first_states,
    places_by_metric,
    probe_counts,
    ranked_by,
    worst_states,
)
from assignor_lab.scoring.summaries.headline import headline

__all__ = ["MAX_PLACEMENTS", "MAX_WORST", "Asked", "Figures", "measured"]

#: Most states whose placements are kept, and how many of them may be worst cases of generated states.
MAX_PLACEMENTS = 60
MAX_WORST = 12
#: Up to so many rows, asking others would take longer than the work.
HERE_ROWS = 32_768


@attrs.frozen
class Asked:
    """What is to be measured.

    Args:
        results: The table ``results``.
        run_metrics: The table ``run_metrics``.
        assignors: Assignors that have rows, in the order of the summary.
        ranked: Those of them that are compared with each other.
        metrics: Column to metric.
        headline: The figures of the headline.
        terms: Baseline, gates, and how a state is shown again.
    """

    results: Path
    run_metrics: Path
    assignors: tuple[str, ...]
    ranked: tuple[str, ...]
    metrics: Mapping[str, MetricPlugin]
    headline: tuple[HeadlineFigure, ...]
    terms: Terms


@attrs.frozen(eq=False)
class Figures:
    """What was measured: parts of the summary, and states that are worth a look.

    Args:
        aggregates: The summary's ``aggregates``.
        headline: Its ``headline``.
        ranking: Its ``ranking``.
        evaluation: The other keys of its ``results``.
        assign_ms: The ``assign_ms`` of its ``run_metrics``.
        probes: Likewise.
        captured: Items of the first captured states.
        more_captured: How many more there are.
        worst: For each metric in which something differs, its worst state: item, round, assignor; and whether it is a
            captured one.
        first: The first states: item and round.
    """

    aggregates: list[dict[str, Any]]
    headline: dict[str, Any]
    ranking: dict[str, Any]
    evaluation: dict[str, Any]
    assign_ms: list[dict[str, Any]]
    probes: list[dict[str, Any]]
    captured: list[int]
    more_captured: int
    worst: list[tuple[int, int, str, bool]]
    first: list[tuple[int, int]]


def measured(asked: Asked, engine: Engine, rows: int, seen: Path) -> Figures:
    """The figures of a table.

    Args:
        asked: What is to be measured.
        engine: Who helps.
        rows: Rows of the table.
        seen: The folder that it is in.

    Raises:
        JobFailedError: if the engine gave up.
        OSError: if the tables cannot be read.
    """
    # What computes a metric has done so, and need not travel.
    plain = attrs.evolve(
        asked, metrics={name: attrs.evolve(plugin, compute=_computed) for name, plugin in asked.metrics.items()}
    )
    hands = 1 if rows <= HERE_ROWS else max(engine.cores or 1, 1)
    names = list(plain.metrics)
    dealt = [names[first::hands] for first in range(max(min(hands, len(names)), 1))]
    questions: list[_Question] = [_Together(plain), *(_OfMetrics(plain, tuple(some)) for some in dealt)]
    if rows <= HERE_ROWS:
        together, *found = map(_answered, questions)
    else:
        together, *found = engine.mapped(_answered, questions, seen)
    return _put_together(asked, together, found)


# --- what is asked of others ----------------------------------------------------------------------


def _computed(*_asked: Any) -> NoReturn:
    raise AssertionError("the figures are in the table")


class _Question(Protocol):
    """Something about the table."""

    def answer(self) -> dict[str, Any]:
        """The answer, as JSON."""


def _answered(question: _Question) -> dict[str, Any]:
    return question.answer()


@attrs.frozen
class _OfMetrics:
    """What is asked of single metrics."""

    asked: Asked
    names: tuple[str, ...]

    def answer(self) -> dict[str, Any]:
        """Parts of the summary, and the worst states."""
        asked = self.asked
        table = ResultsTable(asked.results, asked.assignors)
        metrics = {name: asked.metrics[name] for name in self.names}
        return {
            "aggregates": aggregates(table, metrics),
            "by_metric": places_by_metric(table, asked.ranked, metrics)[1],
            "worst": _worst(table, metrics),
            "evaluation": evaluated(table, metrics, asked.terms, len(asked.metrics)),
        }


@attrs.frozen
class _Together:
    """What takes several metrics, or none."""

    asked: Asked

    def answer(self) -> dict[str, Any]:
        """Parts of the summary, and the states that are shown anyway."""
        asked = self.asked
        table = ResultsTable(asked.results, asked.assignors)
        found = headline(table, asked.ranked, asked.headline, asked.metrics, asked.terms.baseline)
        captured = table.rows_of(OBSERVED)["item"] if OBSERVED in asked.assignors else pa.chunked_array([], pa.int64())
        return {
            "headline": found.document,
            "places": dict(found.places),
            "states": places_by_metric(table, asked.ranked, {})[0],
            "gates": gates_judged(table, asked.terms),
            "captured": captured.slice(0, MAX_PLACEMENTS).to_pylist(),
            "more_captured": max(len(captured) - MAX_PLACEMENTS, 0),
            "first": first_states(table, MAX_WORST),
            "assign_ms": assign_times(asked.run_metrics, asked.assignors),
            "probes": probe_counts(asked.run_metrics, asked.assignors),
        }


def _worst(table: ResultsTable, metrics: Mapping[str, MetricPlugin]) -> list[list[Any]]:
    """Metric, item, round, assignor, and whether the state is a captured one."""
    captured = table.rows_of(OBSERVED)["item"] if OBSERVED in table.assignors else None
    found: list[list[Any]] = []
    for metric, plugin in metrics.items():
        for item, number, assignor in worst_states(table, {metric: plugin}, 1):
            known = captured is not None and number == 0 and pc.index(captured, item).as_py() >= 0
            found.append([metric, item, number, assignor, known])
    return found


# --- put together ---------------------------------------------------------------------------------


def _put_together(asked: Asked, together: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> Figures:
    by_metric = _by_metric(asked, (entry for each in found for entry in each["by_metric"]))
    places = asked.metrics, together["places"]
    evaluations = [each["evaluation"] for each in found]
    by_place = _place(asked.metrics, lambda entry: entry[0])
    worst = sorted((entry for each in found for entry in each["worst"]), key=by_place)
    return Figures(
        aggregates=_by_assignor(asked, (entry for each in found for entry in each["aggregates"])),
        headline=together["headline"],
        ranking=ranked_by(together["states"], by_metric, asked.ranked, *places),
        evaluation=_evaluation(asked, evaluations, together["gates"]),
        assign_ms=together["assign_ms"],
        probes=together["probes"],
        captured=together["captured"],
        more_captured=together["more_captured"],
        worst=[(item, number, assignor, known) for _, item, number, assignor, known in worst],
        first=[(item, number) for item, number in together["first"]],
    )


def _evaluation(asked: Asked, found: Sequence[Mapping[str, Any]], gates: list[dict[str, Any]]) -> dict[str, Any]:
    cut = [each["slices"] for each in found]
    return {
        "baseline": asked.terms.baseline,
        "distributions": {
            "levels": found[0]["distributions"]["levels"],
            "of": _by_assignor(asked, (entry for each in found for entry in each["distributions"]["of"])),
        },
        "differences": _by_assignor(asked, (entry for each in found for entry in each["differences"])),
        "worst_cases": _by_assignor(asked, (entry for each in found for entry in each["worst_cases"])),
        "slices": {
            **cut[0],
            **{
                name: _by_metric(asked, (entry for each in cut for entry in each[name]))
                for name in ("bins", "figures", "differences")
            },
        },
        "gates": gates,
    }


def _by_metric(asked: Asked, entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(entries, key=_place(asked.metrics, lambda entry: entry["metric"]))


def _by_assignor(asked: Asked, entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries by assignor, then by metric; several of one pair stay as they are."""
    return sorted(_by_metric(asked, entries), key=_place(asked.assignors, lambda entry: entry["assignor"]))


def _place(order: Iterable[str], name: Callable[[Any], str]) -> Callable[[Any], int]:
    places = {each: place for place, each in enumerate(order)}
    return lambda entry: places[name(entry)]
