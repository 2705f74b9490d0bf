"""The five figures of some contenders, over the states in which all have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.headline import FAILURES, HeadlineFigure

__all__ = ["FigureCompared", "compared_figures", "metrics_of_headline"]

#: A row of each contender for one state, as :class:`assignor_lab.groups.rows.RowMaker` makes it.
Rows = tuple[Mapping[str, Any], ...]


@attrs.frozen
class FigureCompared:
    """One of the five.

    Args:
        figure: Its name.
        title: Its title.
        metric: The metric that measures it; ``None``: it is counted, or not measured.
        unit: Unit of the means.
        direction: Which way is better.
        means: Mean of each contender over ``states``; ``None``: not measured.
        states: States in which all have it.
        not_measured: Why it is not measured, or ``None``.
    """

    figure: str
    title: str
    metric: str | None
    unit: str
    direction: str
    means: tuple[float, ...] | None
    states: int
    not_measured: str | None

    @property
    def difference(self) -> float | None:
        """The second one's mean less the first one's."""
        return None if self.means is None else self.means[1] - self.means[0]


def metrics_of_headline(figures: Sequence[HeadlineFigure]) -> list[str]:
    """The metrics that the five figures may be measured by."""
    return list(dict.fromkeys(metric for figure in figures for metric in figure.metrics))


def compared_figures(
    figures: Sequence[HeadlineFigure], rows: Sequence[Rows], metrics: Mapping[str, MetricPlugin]
) -> tuple[FigureCompared, ...]:
    """The five figures.

    Args:
        figures: Those of the kind of group.
        rows: For each state a row of each contender.
        metrics: Column to metric.
    """
    return tuple(_failures(each, rows) if each.name == FAILURES else _figure(each, rows, metrics) for each in figures)


def _failures(figure: HeadlineFigure, rows: Sequence[Rows]) -> FigureCompared:
    means = _means([tuple(_failed(row, figure.metrics) for row in of) for of in rows]) if rows else None
    return FigureCompared(
        figure.name, figure.title, None, "share", "lower", means, len(rows), None if rows else figure.not_measured
    )


def _failed(row: Mapping[str, Any], metrics: Sequence[str]) -> float:
    return float(row["error_type"] is not None or any((row.get(metric) or 0) > 0 for metric in metrics))


def _figure(figure: HeadlineFigure, rows: Sequence[Rows], metrics: Mapping[str, MetricPlugin]) -> FigureCompared:
    """Measured by the metric that says most among those known in most states, as in the headline of a run."""
    best, values = "", list[tuple[float, ...]]()
    for metric in figure.metrics:
        known = [tuple(row[metric] for row in of) for of in rows if all(row.get(metric) is not None for row in of)]
        if metric in metrics and len(known) > len(values):
            best, values = metric, known
    if not best:
        return FigureCompared(figure.name, figure.title, None, "", "none", None, 0, figure.not_measured)
    plugin = metrics[best]
    title = figure.title_of(best)
    return FigureCompared(figure.name, title, best, plugin.unit, plugin.direction, _means(values), len(values), None)


def _means(values: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(sum(column) / len(column) for column in zip(*values, strict=True))
