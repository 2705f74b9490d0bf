"""Figures of a finished table: single metrics on any worker that sees it, and figures over several metrics.

The driver holds no row of a large run. A measuring process holds the keys of rows, some 25 bytes for each, and one
column of figures at a time; so metrics are distributed over all workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignment_api.plugins import MetricPlugin
from assignor_lab.documents.values import plain_document, value_of
from assignor_lab.groups.metrics.headline import HeadlineFigure
from assignor_lab.groups.work import OBSERVED
from assignor_lab.model.comparisons import Distributions, Verdict
from assignor_lab.model.run_summary import Aggregate, AssignTime, MetricRanking, ProbeCounts, SummaryHeadline
from assignor_lab.scoring.engine.engine import Engine
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.summaries.evaluation import Evaluation, evaluated, gates_judged
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
        failed: Contenders that had states and answered none.
    """

    results: Path
    run_metrics: Path
    assignors: tuple[str, ...]
    ranked: tuple[str, ...]
    metrics: Mapping[str, MetricPlugin]
    headline: tuple[HeadlineFigure, ...]
    terms: EvaluationTerms
    failed: tuple[str, ...] = ()


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
    whole, single = _Together(plain), [_OfMetrics(plain, tuple(some)) for some in dealt]
    if rows <= HERE_ROWS:
        return _put_together(requested, whole.answer(), [each.answer() for each in single])
    questions: list[_Question] = [whole, *single]
    together, *found = engine.mapped(_answered, questions, seen)
    read_metrics = value_of(_MetricFigures, "")
    return _put_together(requested, value_of(_OverallFigures, "")(together), [read_metrics(each) for each in found])


# --- distributed work -----------------------------------------------------------------------------


def _computed(*_asked: Any) -> NoReturn:
    raise AssertionError("the figures are in the table")


@attrs.frozen
class _WorstRow:
    """The worst state of a metric, of an assignor, and true if it is a captured one."""

    metric: str
    item: int
    round: int
    assignor: str
    is_captured: bool


@attrs.frozen
class _MetricFigures:
    """Measurements of single metrics."""

    aggregates: tuple[Aggregate, ...]
    by_metric: tuple[MetricRanking, ...]
    worst: tuple[_WorstRow, ...]
    evaluation: Evaluation


@attrs.frozen
class _OverallFigures:
    """Measurements over several metrics.

    Args:
        first: Item and round of the first states.
    """

    headline: SummaryHeadline
    places: dict[str, int]
    states: int
    gates: tuple[Verdict, ...]
    captured: tuple[int, ...]
    more_captured: int
    first: tuple[tuple[int, ...], ...]
    assign_ms: tuple[AssignTime, ...]
    probes: tuple[ProbeCounts, ...]


class _Question(Protocol):
    def answer(self) -> _MetricFigures | _OverallFigures: ...


def _answered(question: _Question) -> Any:
    return plain_document(question.answer())


@attrs.frozen
class _OfMetrics:
    asked: RequestedFigures
    names: tuple[str, ...]

    def answer(self) -> _MetricFigures:
        requested = self.asked
        table = ResultsTable(requested.results, requested.assignors)
        metrics = {name: requested.metrics[name] for name in self.names}
        return _MetricFigures(
            aggregates=tuple(aggregates(table, metrics)),
            by_metric=tuple(places_by_metric(table, requested.ranked, metrics)[1]),
            worst=tuple(_worst(table, metrics)),
            evaluation=evaluated(table, metrics, requested.terms, len(requested.metrics)),
        )


@attrs.frozen
class _Together:
    asked: RequestedFigures

    def answer(self) -> _OverallFigures:
        requested = self.asked
        table = ResultsTable(requested.results, requested.assignors)
        found = headline(
            table, requested.ranked, requested.headline, requested.metrics, requested.terms.baseline, requested.failed
        )
        captured = (
            table.rows_of(OBSERVED)["item"] if OBSERVED in requested.assignors else pa.chunked_array([], pa.int64())
        )
        return _OverallFigures(
            headline=found.found,
            places=dict(found.places),
            states=places_by_metric(table, requested.ranked, {})[0],
            gates=gates_judged(table, requested.terms),
            captured=tuple(captured.slice(0, MAX_PLACEMENTS).to_pylist()),
            more_captured=max(len(captured) - MAX_PLACEMENTS, 0),
            first=tuple(first_states(table, MAX_WORST)),
            # The time of a call without an answer describes no assignor.
            assign_ms=tuple(
                assign_times(
                    requested.run_metrics, [name for name in requested.assignors if name not in requested.failed]
                )
            ),
            probes=tuple(probe_counts(requested.run_metrics, requested.assignors)),
        )


def _worst(table: ResultsTable, metrics: Mapping[str, MetricPlugin]) -> Iterator[_WorstRow]:
    captured = table.rows_of(OBSERVED)["item"] if OBSERVED in table.assignors else None
    for metric, plugin in metrics.items():
        for item, number, assignor in worst_states(table, {metric: plugin}, 1):
            known = captured is not None and number == 0 and pc.index(captured, item).as_py() >= 0
            yield _WorstRow(metric, item, number, assignor, known)


# --- results combined -----------------------------------------------------------------------------


class _OfMetric(Protocol):
    @property
    def metric(self) -> str: ...


class _OfContender(_OfMetric, Protocol):
    @property
    def assignor(self) -> str: ...


M = TypeVar("M", bound=_OfMetric)
C = TypeVar("C", bound=_OfContender)


def _put_together(requested: RequestedFigures, together: _OverallFigures, found: Sequence[_MetricFigures]) -> Figures:
    places = {name: place for place, name in enumerate(requested.metrics)}
    order = {name: place for place, name in enumerate(requested.assignors)}

    def by_metric(entries: Iterable[M]) -> tuple[M, ...]:
        return tuple(sorted(entries, key=lambda each: places[each.metric]))

    def by_assignor(entries: Iterable[C]) -> tuple[C, ...]:
        return tuple(sorted(by_metric(entries), key=lambda each: order[each.assignor]))

    evaluations = [each.evaluation for each in found]
    cut = [each.slices for each in evaluations]
    ranked = by_metric(entry for each in found for entry in each.by_metric)
    return Figures(
        aggregates=by_assignor(entry for each in found for entry in each.aggregates),
        headline=together.headline,
        ranking=ranked_by(together.states, ranked, requested.ranked, requested.metrics, together.places),
        baseline=requested.terms.baseline,
        distributions=Distributions(
            evaluations[0].distributions.levels,
            by_assignor(entry for each in evaluations for entry in each.distributions.of),
        ),
        differences=by_assignor(entry for each in evaluations for entry in each.differences),
        worst_cases=by_assignor(entry for each in evaluations for entry in each.worst_cases),
        slices=attrs.evolve(
            cut[0],
            bins=by_metric(entry for each in cut for entry in each.bins),
            figures=by_metric(entry for each in cut for entry in each.figures),
            differences=by_metric(entry for each in cut for entry in each.differences),
        ),
        gates=together.gates,
        assign_ms=together.assign_ms,
        probes=together.probes,
        captured=together.captured,
        more_captured=together.more_captured,
        worst=tuple(
            (each.item, each.round, each.assignor, each.is_captured)
            for each in by_metric(entry for one in found for entry in one.worst)
        ),
        first=tuple((item, number) for item, number in together.first),
    )
