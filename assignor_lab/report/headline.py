"""The headline of the page: the five figures as cards, each with everybody's mean and what its difference tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

import attrs

from assignor_lab.compare.verdicts import how_often
from assignor_lab.documents.wording import mean, shortened, signed
from assignor_lab.report.summary import Headline, HeadlineFigure, HeadlineValue, Metric, Results

__all__ = ["HeadlineCard", "HeadlineRow", "NotMeasured", "folded", "headline_cards", "not_measured"]

#: Groups of measures that say nearly the same: one of each is shown, and the others one click away.
FOLDED = frozenset({"balance"})
#: Longest name inside a sentence.
NAME_LIMIT = 40


@attrs.frozen
class HeadlineRow:
    """One assignor.

    Args:
        name: Its name.
        value: Its mean, in words.
        length: Of its bar, in hundredths of the longest.
        told: What its difference from the baseline tells, in words; empty for the baseline.
        tells: The same as a word of the format, or ``baseline``.
    """

    name: str
    value: str
    length: float
    told: str
    tells: str


@attrs.frozen
class HeadlineCard:
    """One figure that was measured: what it is, and its rows, the baseline's first."""

    title: str
    summary: str
    unit: str
    better: str
    states: int
    rows: tuple[HeadlineRow, ...]


@attrs.frozen
class NotMeasured:
    """A figure that was not measured, and why."""

    title: str
    why: str


def headline_cards(results: Results, names: Mapping[str, str]) -> tuple[HeadlineCard, ...]:
    """The figures that were measured, in their order."""
    found = results.headline
    return () if found is None else tuple(_card(found, each, names) for each in found.figures if each.of)


def not_measured(results: Results) -> tuple[NotMeasured, ...]:
    """The figures that were not."""
    figures = () if results.headline is None else results.headline.figures
    return tuple(NotMeasured(each.title, each.not_measured or "") for each in figures if not each.of)


class _OfMetric(Protocol):
    """A table about one metric."""

    @property
    def metric(self) -> Metric:
        """The metric."""


T = TypeVar("T", bound=_OfMetric)


def folded(group: str, tables: tuple[T, ...], results: Results) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """The tables of a group that are shown, and those that are one click away.

    Of a group whose measures say nearly the same the one of the headline is shown, or else the first.
    """
    if group not in FOLDED or len(tables) < 2:
        return tables, ()
    figures = () if results.headline is None else results.headline.figures
    asked_for = {each.metric for each in figures}
    shown = next((table for table in tables if table.metric.name in asked_for), tables[0])
    return (shown,), tuple(table for table in tables if table is not shown)


def _card(headline: Headline, figure: HeadlineFigure, names: Mapping[str, str]) -> HeadlineCard:
    unit = figure.unit or ""
    most = max(abs(each.mean) for each in figure.of)
    rows = [
        HeadlineRow(
            names.get(each.assignor, each.assignor),
            mean(each.mean, unit),
            round(100 * max(each.mean, 0.0) / most, 1) if most else 0.0,
            _told(headline, figure, each, names),
            each.tells or "baseline",
        )
        for each in sorted(figure.of, key=lambda each: each.assignor != headline.baseline)
    ]
    better = {"lower": "less is better", "higher": "more is better"}.get(figure.direction or "", "")
    return HeadlineCard(figure.title, figure.summary or "", unit, better, figure.states, tuple(rows))


def _told(headline: Headline, figure: HeadlineFigure, value: HeadlineValue, names: Mapping[str, str]) -> str:
    if value.tells is None or headline.baseline is None:
        return ""
    other, unit = shortened(names.get(headline.baseline, headline.baseline), NAME_LIMIT), figure.unit or ""
    by = signed(value.difference, unit)
    if value.tells == "equal":
        return f"the same as {other}" if headline.states == 1 else f"the same as {other} everywhere"
    if headline.states == 1:
        return by
    often = how_often(value, figure.direction, headline.unit)
    if value.tells == "none":
        return f"{by} on average; too few differ to be sure{'' if value.lower is None else f' ({often})'}"
    words = f"{value.tells} than {other}" if value.tells in ("better", "worse") else f"not told apart from {other},"
    interval = "" if value.low is None else f" ({signed(value.low, unit)} to {signed(value.high, unit)})"
    return f"{words} {often}: {by}{interval}"
