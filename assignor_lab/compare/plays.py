"""Figures and verdict of contenders that played one past: shared by `score`, `replay` and the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.plugins import MetricPlugin
from assignor_lab.compare.figures import compared_figures
from assignor_lab.compare.verdicts import (
    NOT_COMPARABLE,
    NOT_RANKED,
    alone,
    best_everywhere,
    missing_cost,
    verdict_of_one,
)
from assignor_lab.documents.wording import shortened
from assignor_lab.groups.metrics.headline import HeadlineFigure
from assignor_lab.model.comparisons import FigureCompared

__all__ = ["PlaysCompared", "compared_plays"]

_NAME_LIMIT = 40


@attrs.frozen
class PlaysCompared:
    """Plays of one past, compared."""

    figures: tuple[FigureCompared, ...]
    best: tuple[str, ...]
    verdict: str


def compared_plays(
    rows: Mapping[str, Mapping[str, Any] | None],
    headline: tuple[HeadlineFigure, ...],
    metrics: Mapping[str, MetricPlugin],
    settings: Mapping[str, str],
) -> PlaysCompared:
    """The comparison of some plays; a contender with a failed play is in no figure.

    Args:
        rows: ComparedContender to its figures, with ``error_type``; ``None`` if its play is not comparable.
    """
    played = {name: row for name, row in rows.items() if row is not None and row["error_type"] is None}
    names = {name: shortened(name, _NAME_LIMIT) for name in played}
    if not played:
        return PlaysCompared((), (), NOT_COMPARABLE if None in rows.values() else NOT_RANKED)
    figures = compared_figures(headline, [tuple(played.values())], metrics, tuple(played))
    first = next(iter(played))
    if len(played) == 1:
        return PlaysCompared(figures, (), alone(names[first]))
    best = () if missing_cost(figures) else best_everywhere(each.best for each in figures)
    return PlaysCompared(figures, best, verdict_of_one(figures, names, first, "history", settings))
