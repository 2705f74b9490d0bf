"""The five figures of some contenders, over the states in which all have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assignment_api.plugins import MetricPlugin
from assignor_lab.compare.play_errors import COLUMN, NO_ERROR, PlayError, play_error
from assignor_lab.groups.metrics.headline import FAILURES, HeadlineFigure
from assignor_lab.model.comparisons import FigureCompared, ValueCompared

__all__ = ["best_of", "compared_figures", "has_failed", "metrics_of_headline"]

#: A row of each contender for one state, from :class:`assignor_lab.groups.runner.rows.RowMaker`.
Rows = tuple[Mapping[str, Any], ...]


#: Least difference, as a share of the largest value, for one to be better.
_NEARLY = 0.01


def best_of(values: Mapping[str, float], direction: str | None, error: PlayError = NO_ERROR) -> tuple[str, ...]:
    """The contenders with the best value, or one nearly as good; none if all are alike.

    This is the one rule of `score`, `replay`, `compare`, the report and the page: contenders that the error of their
    plays does not separate from the best one are best, too.
    """
    if len(set(values.values())) < 2 or direction not in ("lower", "higher"):
        return ()
    first = (min if direction == "lower" else max)(values, key=lambda name: values[name])
    best = values[first]
    # With values in megabytes, a few bytes make no contender better.
    nearly = _NEARLY * max(abs(value) for value in values.values())
    found = tuple(name for name, value in values.items() if abs(value - best) <= nearly or error.is_within(name, first))
    return found if len(found) < len(values) else ()


def metrics_of_headline(figures: Sequence[HeadlineFigure]) -> list[str]:
    return list(dict.fromkeys(metric for figure in figures for metric in figure.metrics))


def compared_figures(
    figures: Sequence[HeadlineFigure], rows: Sequence[Rows], metrics: Mapping[str, MetricPlugin], names: Sequence[str]
) -> tuple[FigureCompared, ...]:
    return tuple(
        _failures(each, rows, names) if each.name == FAILURES else _figure(each, rows, metrics, names)
        for each in figures
    )


def _failures(figure: HeadlineFigure, rows: Sequence[Rows], names: Sequence[str]) -> FigureCompared:
    if not rows:
        return _not_measured(figure)
    values = [tuple(has_failed(row, figure.metrics) for row in of) for of in rows]
    return _measured(figure, None, "share", "lower", None, values, names)


def has_failed(row: Mapping[str, Any], metrics: Sequence[str]) -> float:
    """1 if a row has no answer, or one of ``metrics`` is above 0, else 0."""
    return float(row["error_type"] is not None or any((row.get(metric) or 0) > 0 for metric in metrics))


def _figure(
    figure: HeadlineFigure, rows: Sequence[Rows], metrics: Mapping[str, MetricPlugin], names: Sequence[str]
) -> FigureCompared:
    """Measured by the most informative metric among those known in most states, as in the headline of a run."""
    best, values = "", list[tuple[float, ...]]()
    for metric in figure.metrics:
        known = [tuple(row[metric] for row in of) for of in rows if all(row.get(metric) is not None for row in of)]
        if metric in metrics and len(known) > len(values):
            best, values = metric, known
    if not best:
        return _not_measured(figure)
    plugin = metrics[best]
    texts = {name: row.get(COLUMN) for name, row in zip(names, rows[0], strict=True)} if len(rows) == 1 else {}
    error = play_error(figure.name, best, texts)
    return _measured(figure, best, plugin.unit, plugin.direction, plugin.summary, values, names, error)


def _not_measured(figure: HeadlineFigure) -> FigureCompared:
    return FigureCompared(
        figure.name, figure.title, None, None, None, None, figure.not_measured, 0, (), remedy=figure.remedy
    )


def _measured(
    figure: HeadlineFigure,
    metric: str | None,
    unit: str,
    direction: str,
    summary: str | None,
    values: Sequence[tuple[float, ...]],
    names: Sequence[str],
    error: PlayError = NO_ERROR,
) -> FigureCompared:
    means = [sum(column) / len(column) for column in zip(*values, strict=True)]
    of = tuple(
        ValueCompared(name, mean, mean - means[0] if number else None, band=error.band_of(name))
        for number, (name, mean) in enumerate(zip(names, means, strict=True))
    )
    best = best_of(dict(zip(names, means, strict=True)), direction, error)
    return FigureCompared(
        figure.name, figure.title_of(metric), metric, unit, direction, summary, None, len(values), of, best,
        error.error,
    )  # fmt: skip
