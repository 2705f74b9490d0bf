"""Evaluation of the table: distributions, differences from a baseline, worst cases, gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from assignment_api.plugins import MetricPlugin
from assignor_lab.model.comparisons import (
    Distributions,
    SliceDifferences,
    SliceFigures,
    SummaryBins,
    SummaryDifference,
    SummarySlices,
    Verdict,
    WorstState,
)
from assignor_lab.scoring.output.results_table import ResultsTable, RowOrigin
from assignor_lab.scoring.statistics.distributions import distributions, quantiles
from assignor_lab.scoring.statistics.slices import Slices, slices_of
from assignor_lab.scoring.statistics.worst import worst_rows
from assignor_lab.scoring.terms import EvaluationTerms

if TYPE_CHECKING:
    from assignor_lab.scoring.output.results_table import PairedFigures, Pairs

__all__ = ["Evaluation", "evaluated", "gates_judged"]


@attrs.frozen
class Evaluation:
    """The evaluation of some metrics."""

    distributions: Distributions
    differences: tuple[SummaryDifference, ...]
    worst_cases: tuple[WorstState, ...]
    slices: SummarySlices


def evaluated(
    table: ResultsTable, metrics: Mapping[str, MetricPlugin], terms: EvaluationTerms, number: int
) -> Evaluation:
    pairs = {assignor: _pairs(table, assignor, terms.baseline) for assignor in table.assignors}
    compared: dict[tuple[str, str], SummaryDifference] = {}
    worst: dict[tuple[str, str], list[WorstState]] = {}
    slices = slices_of(table, number)
    cells = {
        assignor: slices.cells_of(table.rows_of(assignor)["item"].combine_chunks()) for assignor in table.assignors
    }
    all_bins: list[SummaryBins] = []
    figures_of: list[SliceFigures] = []
    differences_of: list[SliceDifferences] = []
    for metric, plugin in metrics.items():
        columns = table.column(metric)
        bins, spreads = slices.spread(columns, cells)
        all_bins.append(SummaryBins(metric, bins.start, bins.width, bins.number, bins.whole))
        for assignor, values in columns.items():
            found = pairs[assignor]
            figures_of.append(spreads[assignor].of(assignor, metric))
            figures = None
            if found is not None and terms.baseline is not None:
                figures = found.figures(values, columns[terms.baseline])
                compared[assignor, metric] = _difference(assignor, metric, figures)
                differences_of.append(_sliced(slices, figures, assignor, metric))
            worst[assignor, metric] = [
                _worst_state(table, terms, assignor, metric, case) for case in _cases(values, figures, plugin)
            ]
    order = [(assignor, metric) for assignor in table.assignors for metric in metrics]
    return Evaluation(
        distributions=distributions(table, metrics),
        differences=tuple(compared[key] for key in order if key in compared),
        worst_cases=tuple(case for key in order for case in worst[key]),
        slices=slices.summary(all_bins, figures_of, differences_of),
    )


@attrs.frozen
class _Case:
    by: str
    row: int
    value: float
    baseline_value: float | None


def _worst_state(table: ResultsTable, terms: EvaluationTerms, assignor: str, metric: str, case: _Case) -> WorstState:
    origin = table.origin(assignor, case.row)
    return WorstState(
        assignor=assignor,
        metric=metric,
        by=case.by,
        value=case.value,
        baseline_value=case.baseline_value,
        item=origin.item,
        round=origin.round,
        scenario=origin.name,
        family=origin.family,
        seed=origin.seed,
        time_ms=origin.time_ms,
        replay=_replay(terms, assignor, origin),
    )


def _pairs(table: ResultsTable, assignor: str, baseline: str | None) -> Pairs | None:
    if baseline is None or baseline not in table.assignors or assignor == baseline:
        return None
    from assignor_lab.scoring.output.results_table import pairs_of

    return pairs_of(table, assignor, baseline)


def _difference(assignor: str, metric: str, figures: PairedFigures) -> SummaryDifference:
    from assignor_lab.scoring.statistics.differences import paired_difference

    found = paired_difference(figures.own, figures.baseline, figures.units)
    return SummaryDifference(
        assignor=assignor,
        metric=metric,
        histories=found.units,
        states=found.states,
        mean=found.mean,
        baseline_mean=found.baseline_mean,
        difference=found.difference,
        low=found.low,
        high=found.high,
        level=found.level,
        effect=found.effect,
        lower=found.lower,
        equal=found.equal,
        higher=found.higher,
        values=quantiles(pa.array(found.unit_differences)),
        no_interval=found.no_interval,
    )


def _sliced(slices: Slices, figures: PairedFigures, assignor: str, metric: str) -> SliceDifferences:
    from assignor_lab.scoring.statistics.slice_differences import slice_differences

    return slice_differences(slices, figures, assignor, metric)


def _cases(values: pa.Array, figures: PairedFigures | None, plugin: MetricPlugin) -> Iterator[_Case]:
    """Worst rows: by their own figure, then by their distance behind the baseline's."""
    for row in worst_rows(_numbers(values), plugin.direction):
        behind = None if figures is None else _beside(figures, row)
        yield _Case("value", row, values[row].as_py(), behind)
    if figures is None:
        return
    for position in worst_rows(figures.own - figures.baseline, plugin.direction, beyond=0.0):
        own, other = float(figures.own[position]), float(figures.baseline[position])
        yield _Case("difference", int(figures.rows[position]), own, other)


def _numbers(values: pa.Array) -> npt.NDArray[np.float64]:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _beside(figures: PairedFigures, row: int) -> float | None:
    """The baseline's figure in the state of a row; ``None`` if either is missing."""
    position = int(np.searchsorted(figures.rows, row))
    found = position < len(figures.rows) and figures.rows[position] == row
    return float(figures.baseline[position]) if found else None


def _replay(terms: EvaluationTerms, assignor: str, origin: RowOrigin) -> str | None:
    if terms.replay is None:
        return None
    names: Sequence[str] = tuple(dict.fromkeys(name for name in (assignor, terms.baseline) if name is not None))
    return terms.replay.command(origin.item, origin.round, origin.family, origin.seed, names)


def gates_judged(table: ResultsTable, terms: EvaluationTerms) -> tuple[Verdict, ...]:
    if not terms.gates or terms.subjects is None:
        return ()
    from assignor_lab.scoring.gates import judge

    return tuple(judge(terms.gates, terms.subjects, table))
